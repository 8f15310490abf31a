/** Letters of presets that the first two of the id would not tell apart, or by which nobody calls the service. */
const ownLetters: Readonly<Record<string, string>> = {
  openai: 'OA',
  openrouter: 'OR',
  groq: 'Gq',
  fireworks: 'Fw',
  deepseek: 'DS',
  xai: 'xA',
  nvidia: 'NV',
  perplexity: 'Px',
  vertex: 'Vx',
  moonshot: 'Ki',
  zhipu: 'GL',
  zai: 'Z',
  dashscope: 'Qw',
  siliconflow: 'SF',
  volcengine: 'Ar',
  minimax: 'MM',
  qianfan: 'Qf',
  hunyuan: 'HY',
  'lm-studio': 'LM',
  'llama-cpp': 'lc',
  vllm: 'vL',
  localai: 'LA',
};

/** Two letters for a preset. The services’ own logos are not used, because they are trademarks. */
export function presetLetters(preset: string): string {
  return ownLetters[preset] ?? preset.charAt(0).toUpperCase() + preset.charAt(1);
}

/** The APIs of conversations by the paths of their calls; their names are the same in every language. */
const apis: readonly [path: RegExp, name: string][] = [
  [/\/chat\/completions$/, 'OpenAI Chat Completions'],
  [/\/responses$/, 'OpenAI Responses'],
  [/\/messages$|:(?:streamR|r)awPredict$|\/invoke(?:-with-response-stream)?$/, 'Anthropic Messages'],
  [/:(?:streamG|g)enerateContent$/, 'Gemini generateContent'],
  [/\/converse(?:-stream)?$/, 'Bedrock Converse'],
];

/** Which API an attempt spoke to its provider, by the address that it called; null for other APIs. */
export function apiOfUrl(url: string): string | null {
  const [path = ''] = url.split('?');
  return apis.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}

/** Conversation APIs by the paths of their calls. Their names are the same in every language. */
const apis: readonly [path: RegExp, name: string][] = [
  [/\/chat\/completions$/, 'OpenAI Chat Completions'],
  [/\/responses$/, 'OpenAI Responses'],
  [/\/messages$|:(?:streamR|r)awPredict$|\/invoke(?:-with-response-stream)?$/, 'Anthropic Messages'],
  [/:(?:streamG|g)enerateContent$/, 'Gemini generateContent'],
  [/\/converse(?:-stream)?$/, 'Bedrock Converse'],
];

/** The API of an attempt, derived from the URL it called; null for other APIs. */
export function apiOfUrl(url: string): string | null {
  const [path = ''] = url.split('?');
  return apis.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}

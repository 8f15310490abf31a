import { shellWord } from '../../../../server/contract/shell-words.ts';

/** Snippets to paste, one per language. They only list models, so they work whatever the key may use. */
export const snippetLanguages = ['env', 'curl', 'python', 'node'] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

type WriteSnippet = (baseUrl: string, secret: string) => string;

export const writeSnippet: Record<SnippetLanguage, WriteSnippet> = {
  env: (baseUrl, secret) => `export OPENAI_BASE_URL=${baseUrl}\nexport OPENAI_API_KEY=${shellWord(secret)}`,
  curl: (baseUrl, secret) => `curl ${baseUrl}/models \\\n  -H ${shellWord(`Authorization: Bearer ${secret}`)}`,
  python: (baseUrl, secret) => `from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key="${secret}")
print([model.id for model in client.models.list()])`,
  node: (baseUrl, secret) => `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: '${secret}' });
for await (const model of client.models.list()) console.log(model.id);`,
};

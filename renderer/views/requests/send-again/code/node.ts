/** A request as a JavaScript program for Node that uses the API's official SDK. Pure; the key is a placeholder. */
import { type SdkCall, type SnippetCall, sdkCallOf } from './sdk-call.ts';

const genaiNames: Record<string, string> = {
  generate: 'models.generateContent',
  stream: 'models.generateContentStream',
};

/** Null if no SDK has a method for it. */
export function nodeOf(snippet: SnippetCall): string | null {
  const call = sdkCallOf(snippet);
  if (!call) return null;
  const name = call.sdk === 'genai' ? genaiNames[call.name] : call.name;
  return [
    ...clientLines(call.sdk, snippet),
    '',
    `const answer = await client.${name}(${JSON.stringify(call.body, null, 2)});`,
    ...shownLines(call),
    '',
  ].join('\n');
}

function clientLines(sdk: SdkCall['sdk'], { origin, keyPlaceholder }: SnippetCall): string[] {
  const key = JSON.stringify(keyPlaceholder);
  if (sdk === 'openai')
    return [
      `import OpenAI from 'openai';`,
      '',
      `const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: ${key} });`,
    ];
  if (sdk === 'anthropic')
    return [
      `import Anthropic from '@anthropic-ai/sdk';`,
      '',
      `const client = new Anthropic({ baseURL: '${origin}', apiKey: ${key} });`,
    ];
  return [
    `import { GoogleGenAI } from '@google/genai';`,
    '',
    `const client = new GoogleGenAI({ apiKey: ${key}, httpOptions: { baseUrl: '${origin}' } });`,
  ];
}

function shownLines({ name, isStream }: SdkCall): string[] {
  if (isStream) return ['for await (const event of answer) console.log(event);'];
  if (name === 'audio.speech.create')
    return [
      `await (await import('node:fs/promises')).writeFile('speech.mp3', Buffer.from(await answer.arrayBuffer()));`,
    ];
  return ['console.log(answer);'];
}

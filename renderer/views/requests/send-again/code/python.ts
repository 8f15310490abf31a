/** A request as a Python program that uses the API's official SDK. Pure; the key is a placeholder. */
import { type SdkCall, type SnippetCall, sdkCallOf } from './sdk-call.ts';

const genaiNames: Record<string, string> = {
  generate: 'models.generate_content',
  stream: 'models.generate_content_stream',
};

/** Null if no SDK has a method for it. */
export function pythonOf(snippet: SnippetCall): string | null {
  const call = sdkCallOf(snippet);
  if (!call) return null;
  const name = call.sdk === 'genai' ? genaiNames[call.name] : call.name;
  const body = Object.entries(call.body).map(([key, value]) => `${pythonOfValue(key, 1)}: ${pythonOfValue(value, 1)},`);
  return [
    ...clientLines(call.sdk, snippet),
    '',
    'body = {',
    ...body.map((line) => `    ${line}`),
    '}',
    ...(call.isStream
      ? [`for event in client.${name}(**body):`, '    print(event)']
      : [`answer = client.${name}(**body)`, ...shownLines(call)]),
    '',
  ].join('\n');
}

function clientLines(sdk: SdkCall['sdk'], { origin, keyPlaceholder }: SnippetCall): string[] {
  const key = pythonOfValue(keyPlaceholder, 0);
  if (sdk === 'openai')
    return ['from openai import OpenAI', '', `client = OpenAI(base_url="${origin}/v1", api_key=${key})`];
  if (sdk === 'anthropic')
    return ['from anthropic import Anthropic', '', `client = Anthropic(base_url="${origin}", api_key=${key})`];
  return [
    'from google import genai',
    '',
    `client = genai.Client(api_key=${key}, http_options={"base_url": "${origin}"})`,
  ];
}

function shownLines({ name }: SdkCall): string[] {
  return name === 'audio.speech.create' ? ['answer.write_to_file("speech.mp3")'] : ['print(answer)'];
}

/** A JSON value in Python syntax. String literals are the same in both, except for unpaired surrogates. */
function pythonOfValue(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const inner = isList
    ? value.map((each) => pythonOfValue(each, depth + 1))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${pythonOfValue(each, depth + 1)}`);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (inner.length === 0) return open + close;
  const indent = '    '.repeat(depth);
  return `${open}\n${inner.map((line) => `${indent}    ${line},\n`).join('')}${indent}${close}`;
}

/** Finds the official SDK and its method for a request, and writes it as a command. Pure. */
import { isObject } from '../../../../../server/contract/is-object.ts';
import { type KeptRequest, modelOf } from '../../../../../server/contract/sent-request.ts';

export interface SnippetCall extends Pick<KeptRequest, 'method' | 'path' | 'headers' | 'body'> {
  /** `http://127.0.0.1:4810`. */
  origin: string;
  keyPlaceholder: string;
}

export interface SdkCall {
  sdk: 'openai' | 'anthropic' | 'genai';
  /** `chat.completions.create`; the same in Python and JavaScript, except for `genai`. */
  name: string;
  body: Record<string, unknown>;
  isStream: boolean;
}

const openaiCalls: Record<string, string> = {
  '/v1/chat/completions': 'chat.completions.create',
  '/v1/responses': 'responses.create',
  '/v1/completions': 'completions.create',
  '/v1/embeddings': 'embeddings.create',
  '/v1/moderations': 'moderations.create',
  '/v1/images/generations': 'images.generate',
  '/v1/audio/speech': 'audio.speech.create',
};

const genaiPath = /\/models\/[^/]+:(generateContent|streamGenerateContent)$/;

/** Whether an SDK may have a method for it. Does not read the body, which may be long. */
export function hasSdk({ method, path }: Pick<SnippetCall, 'method' | 'path'>): boolean {
  const [pathname = ''] = path.split('?');
  return method === 'POST' && (pathname in openaiCalls || pathname === '/v1/messages' || genaiPath.test(pathname));
}

/** Null if no SDK has a method for it, or the body is not a JSON object. */
export function sdkCallOf({ method, path, body: text }: Pick<SnippetCall, 'method' | 'path' | 'body'>): SdkCall | null {
  const body = parsedObject(text);
  if (method !== 'POST' || body === null) return null;
  const [pathname = ''] = path.split('?');
  const isStream = body.stream === true;
  const openai = openaiCalls[pathname];
  if (openai) return { sdk: 'openai', name: openai, body, isStream };
  if (pathname === '/v1/messages') return { sdk: 'anthropic', name: 'messages.create', body, isStream };
  const verb = genaiPath.exec(pathname)?.[1];
  if (verb === undefined) return null;
  const streams = verb === 'streamGenerateContent';
  return { sdk: 'genai', name: streams ? 'stream' : 'generate', body: genaiBody(path, text, body), isStream: streams };
}

/** The SDK takes everything except model and contents as one `config` object. */
function genaiBody(path: string, text: string, { contents, generationConfig, ...rest }: Record<string, unknown>) {
  const config = { ...(isObject(generationConfig) && generationConfig), ...rest };
  const model = modelOf({ path, body: text });
  return { model, contents, ...(Object.keys(config).length > 0 && { config }) };
}

function parsedObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A request as a command for a POSIX shell. Pure; the key is a placeholder. */
export function curlOf({ method, origin, path, headers, body, keyPlaceholder }: SnippetCall): string {
  const lines = [
    `curl ${method === 'GET' || method === 'POST' ? '' : `-X ${method} `}${quoted(origin + path)}`,
    `-H ${quoted(`Authorization: Bearer ${keyPlaceholder}`)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // Unlike `--data`, `--data-raw` gives no meaning to a leading @.
    ...(body === '' ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

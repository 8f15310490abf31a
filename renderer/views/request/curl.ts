/** A request as a command that asks the same again, as far as that is known. Pure; the key is a placeholder. */
import type { RequestView } from '../../../server/contract/request-views.ts';

interface CurlQuestion {
  request: Pick<RequestView, 'method' | 'route' | 'capability' | 'modelAsked' | 'stream'>;
  /** `http://127.0.0.1:4810/v1`. */
  baseUrl: string;
  /** The body as it was sent, if it was kept and is text. */
  body: string | null;
  keyPlaceholder: string;
}

const prompt = 'Hello';

export function curlOf({ request, baseUrl, body, keyPlaceholder }: CurlQuestion): string {
  const { method, route } = request;
  const lines = [
    `curl ${method === 'POST' ? '' : `-X ${method} `}${quoted(baseUrl + route.replace(/^\/v1/, ''))}`,
    `-H ${quoted(`Authorization: Bearer ${keyPlaceholder}`)}`,
    ...(method === 'POST' ? bodyArguments(request, body) : []),
  ];
  return lines.join(' \\\n  ').replace('-X GET ', '');
}

function bodyArguments(request: CurlQuestion['request'], body: string | null): string[] {
  if (body === null && isForm(request)) return formFields(request).map((field) => `-F ${quoted(field)}`);
  const sent = body ?? JSON.stringify(likelyBody(request));
  return [`-H ${quoted('Content-Type: application/json')}`, `-d ${quoted(sent)}`];
}

function isForm({ capability, route }: CurlQuestion['request']): boolean {
  return capability === 'transcription' || capability === 'translation' || /\/images\/(edits|variations)$/.test(route);
}

function formFields({ capability, modelAsked }: CurlQuestion['request']): string[] {
  const model = modelAsked === null ? [] : [`model=${modelAsked}`];
  return capability === 'images' ? ['image=@image.png', `prompt=${prompt}`, ...model] : ['file=@audio.mp3', ...model];
}

/** The smallest that its route takes. */
function likelyBody({ capability, modelAsked, stream }: CurlQuestion['request']): object {
  const model = { ...(modelAsked !== null && { model: modelAsked }), ...(stream && { stream: true }) };
  switch (capability) {
    case 'chat':
      return { ...model, messages: [{ role: 'user', content: prompt }] };
    case 'responses':
    case 'embeddings':
    case 'moderations':
      return { ...model, input: prompt };
    case 'speech':
      return { ...model, input: prompt, voice: 'alloy' };
    default:
      return { ...model, prompt };
  }
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A request as a command for a POSIX shell. Pure; the key is a placeholder. */
import type { SnippetCall } from './sdk-call.ts';

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

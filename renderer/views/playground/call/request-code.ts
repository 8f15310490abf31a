/** A playground request as code. The code reads the key from the environment and does not contain it. */
import type { Exchange } from '../../../state/calls/exchange.ts';

export const codeLanguages = ['curl', 'python', 'node'] as const;
type CodeLanguage = (typeof codeLanguages)[number];

type Sent = Pick<Exchange, 'method' | 'path' | 'requestText'>;

/** Null for an upload, because its files are not available here. `origin`: `http://127.0.0.1:4810`. */
export function codeOf({ method, path, requestText }: Sent, origin: string, language: CodeLanguage): string | null {
  if (requestText !== '' && !requestText.startsWith('{')) return null;
  const url = origin + path;
  switch (language) {
    case 'curl':
      return curl(method, url, requestText);
    case 'python':
      return python(method, url, requestText);
    case 'node':
      return node(method, url, requestText);
  }
}

function curl(method: string, url: string, body: string): string {
  const lines = [`curl -N -X ${method} ${url}`, `-H "Authorization: Bearer $SLUICE_API_KEY"`];
  if (body !== '') lines.push(`-H 'Content-Type: application/json'`, `-d '${body.replaceAll("'", `'\\''`)}'`);
  return lines.join(' \\\n  ');
}

function python(method: string, url: string, body: string): string {
  const lines = ['import json', 'import os', 'import urllib.request', ''];
  // A string for `json.loads`, because Python spells true, false and null differently.
  if (body !== '') lines.push(`body = json.loads(${JSON.stringify(body)})`);
  lines.push(
    'request = urllib.request.Request(',
    `    "${url}",`,
    ...(body === '' ? [] : ['    data=json.dumps(body).encode(),']),
    '    headers={',
    '        "Authorization": f"Bearer {os.environ[\'SLUICE_API_KEY\']}",',
    '        "Content-Type": "application/json",',
    '    },',
    `    method="${method}",`,
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    for line in response:',
    '        print(line.decode(), end="")',
  );
  return lines.join('\n');
}

function node(method: string, url: string, body: string): string {
  return [
    "import { env, stdout } from 'node:process';",
    '',
    `const response = await fetch('${url}', {`,
    `  method: '${method}',`,
    '  headers: {',
    '    authorization: "Bearer " + env.SLUICE_API_KEY,',
    "    'content-type': 'application/json',",
    '  },',
    ...(body === '' ? [] : [`  body: JSON.stringify(${body.replaceAll('\n', '\n  ')}),`]),
    '});',
    'for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) stdout.write(chunk);',
  ].join('\n');
}

import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { codeLanguages, codeOf } from '../../../../../renderer/views/playground/call/request-code.ts';

const body = { model: 'm', messages: [{ role: 'user', content: 'It\'s "here"\\n and $there 你好' }], stream: true };
const sent = { method: 'POST', path: '/v1/chat/completions', requestText: JSON.stringify(body, null, 2) };
const origin = 'http://127.0.0.1:4810';

describe('the code of a request', () => {
  it('as curl gives the shell the body unchanged, and names no key', () => {
    const code = codeOf(sent, origin, 'curl') ?? '';
    // Replaces curl; the last argument is the body.
    const shown = execFileSync('sh', ['-c', `curl() { for last; do :; done; printf %s "$last"; }\n${code}`]);
    expect(JSON.parse(shown.toString())).toEqual(body);
    expect(code).toContain('$SLUICE_API_KEY');
  });

  it('as Node holds the body as it is', () => {
    const code = codeOf(sent, origin, 'node') ?? '';
    const literal = /JSON\.stringify\(([\s\S]*?)\),\n\}\)/.exec(code)?.[1] ?? '';
    expect(JSON.parse(literal)).toEqual(body);
  });

  it('as Python reads the body from JSON', () => {
    const literal = /json\.loads\((.*)\)/.exec(codeOf(sent, origin, 'python') ?? '')?.[1] ?? '';
    expect(JSON.parse(JSON.parse(literal))).toEqual(body);
  });

  it('is none for an upload', () => {
    for (const language of codeLanguages)
      expect(codeOf({ ...sent, requestText: 'file: (audio/wav, 12 B)' }, origin, language)).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import { latestArrival, latestClientOf, latestRefusal } from '../../../../renderer/views/connect/arrival.ts';
import { clientGuides } from '../../../../renderer/views/connect/client-guides.ts';

describe('a client', () => {
  it.each([
    ['curl/8.5.0', 'curl'],
    ['OpenAI/Python 2.1.0', 'openai-python'],
    ['AsyncOpenAI/Python 1.109.1', 'openai-python'],
    ['OpenAI/JS 7.0.0', 'openai-node'],
    ['ai/6.0.1 ai-sdk/openai-compatible/2.0.0', 'vercel-ai-sdk'],
    ['codex_cli_rs/0.154.0 (Linux)', 'codex'],
    ['codex_exec/0.169.0 (Debian 12.0.0; x86_64) unknown (codex_exec; 0.169.0)', 'codex'],
    ['claude-cli/2.1.197 (external, sdk-cli)', 'claude-code'],
    ['GeminiCLI-tui/0.61.0/ollama/qwen3-coder (linux; x64; terminal)', 'gemini-cli'],
    ['opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14', 'opencode'],
    ['QwenCode/0.15.10 (linux; x64)', 'qwen-code'],
    ['Cline/3.40.0', 'cline'],
    ['RooCode/3.52.1', 'roo'],
    ['Zed/0.220.0 (linux; x86_64)', 'zed'],
    ['GitHubCopilotChat/0.38.2', 'vscode-copilot'],
    ['Mozilla/5.0 (X11; Linux x86_64)', null],
  ])('that calls itself %s is taken for %s alone', (userAgent, id) => {
    const found = clientGuides.filter((guide) => guide.userAgent?.test(userAgent)).map((guide) => guide.id);
    expect(found).toEqual(id ? [id] : []);
  });

  it('that cannot be told has no arrival', () => {
    const untold = clientGuides.find(({ userAgent }) => userAgent === null);
    const remembered = [{ client: 'anything', keyId: 'k1', lastUsedAt: 5 }];
    expect(untold && latestArrival(untold, { requests: [], remembered })).toBeNull();
  });

  it('is remembered by the ledger where the window has not heard of it', () => {
    const curl = clientGuides.find(({ id }) => id === 'curl');
    const remembered = [
      { client: 'curl/8.6.0', keyId: 'k2', lastUsedAt: 7 },
      { client: 'curl/8.5.0', keyId: 'k1', lastUsedAt: 5 },
    ];
    expect(curl && latestArrival(curl, { requests: [], remembered })).toBe(7);
    expect(latestClientOf('k1', { requests: [], remembered })).toBe('curl/8.5.0');
    expect(latestClientOf('k3', { requests: [], remembered })).toBeNull();
  });

  it('that comes with a wrong key is told apart from one that has come through since', () => {
    const curl = clientGuides.find(({ id }) => id === 'curl');
    if (!curl) throw new Error('There is no guide for curl.');
    const refusals = [
      { reason: 'missing_key', requests: 1, lastAt: 9, lastClient: 'Zed/0.220.0' },
      { reason: 'invalid_api_key', requests: 3, lastAt: 7, lastClient: 'curl/8.6.0' },
    ];
    expect(latestRefusal(curl, refusals, null)).toMatchObject({ reason: 'invalid_api_key' });
    expect(latestRefusal(curl, refusals, 6)).toMatchObject({ reason: 'invalid_api_key' });
    expect(latestRefusal(curl, refusals, 8)).toBeNull();
    expect(latestRefusal(curl, [], null)).toBeNull();
  });
});

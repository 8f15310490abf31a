/** Finds a Claude Code that uses this Sluice and sends more than it needs to. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { jsonFormat } from '../connect/json-format.ts';
import { sectionOf } from '../connect/merge-settings.ts';
import { readProgramSettings } from './programs/settings-files.ts';
import type { Terminal } from './terminal.ts';

/**
 * Where Claude Code is connected to Sluice without its tool search, which it switches off by itself behind an address
 * other than Anthropic's; null if there is none.
 */
export async function examineToolSearch({ env }: Pick<Terminal, 'env'>, origin: string): Promise<string | null> {
  const home = env.HOME || homedir();
  const path = join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json');
  const reader = { readFile: (file: string) => readFile(file, 'utf8') };
  const settings = sectionOf(await readProgramSettings(reader, path, jsonFormat), 'env');
  const { ANTHROPIC_BASE_URL: baseUrl, ENABLE_TOOL_SEARCH: choice } = { ...env, ...settings };
  if (typeof baseUrl !== 'string' || choice || !isSameServer(baseUrl, origin)) return null;
  const remedy =
    'ANTHROPIC_BASE_URL' in settings
      ? '"sluice connect claude-code --write" sets it'
      : 'add it to your shell, or use "sluice env"';
  return `Claude Code lacks ENABLE_TOOL_SEARCH=true, so it sends all tools of its MCP servers with each request; ${remedy}`;
}

const loopback = ['127.0.0.1', 'localhost', '[::1]'];

function isSameServer(url: string, origin: string): boolean {
  if (!URL.canParse(url)) return false;
  const [asked, own] = [new URL(url), new URL(origin)];
  const isLoopback = [asked, own].every(({ hostname }) => loopback.includes(hostname));
  return asked.port === own.port && (isLoopback || asked.hostname === own.hostname);
}

/** The table of dialects as a page of Markdown. */

import type { UpstreamWireName, WireName } from '../../../../../server/apis/neutral/conversation.ts';
import { type LossCode, lossCodes } from '../../../../../server/contract/loss-codes.ts';
import { type Cell, cellOf, countingCell, type Upstream } from './cells.ts';
import { flavourSection } from './flavours.ts';
import { rows } from './rows.ts';

export const clients: Record<WireName, string> = {
  'openai-chat': 'OpenAI chat',
  'openai-responses': 'OpenAI Responses',
  'anthropic-messages': 'Anthropic Messages',
  'gemini-generate': 'Gemini',
};

/** The names of the providers' APIs. */
export const apis: Record<UpstreamWireName, string> = { ...clients, 'bedrock-converse': 'Bedrock Converse' };

export const clientWires = Object.keys(clients) as WireName[];

export const upstreams: readonly Upstream[] = [
  { wire: 'openai-chat', model: 'gpt-5.4' },
  { wire: 'openai-chat', model: 'kimi-k2-thinking' },
  { wire: 'openai-responses', model: 'gpt-5.4' },
  { wire: 'anthropic-messages', model: 'claude-opus-5-5' },
  { wire: 'gemini-generate', model: 'gemini-3-pro' },
  { wire: 'bedrock-converse', model: 'amazon.nova-2-lite-v1:0' },
];

export interface Line {
  name: string;
  cellFor: (client: WireName, upstream: Upstream) => Cell;
}

export const lines: readonly Line[] = [
  ...rows.map((row): Line => ({ name: row.name, cellFor: (client, upstream) => cellOf(row, client, upstream) })),
  { name: 'count tokens', cellFor: countingCell },
];

export function pageOf(preface: string): string {
  const used = new Set<LossCode>();
  const sections = clientWires.map((client) => {
    const body = lines.map(({ name, cellFor }) => {
      const cells = upstreams.map((upstream) => cellFor(client, upstream));
      for (const { codes } of cells) for (const code of codes) used.add(code);
      return `| ${[name, ...cells.map(textOf)].join(' | ')} |`;
    });
    const head = upstreams.map(({ wire, model }) => `${apis[wire]}<br>\`${model}\``);
    const rule = `|---${'|---'.repeat(head.length)}|`;
    return [`## Clients of ${clients[client]}`, '', `| | ${head.join(' | ')} |`, rule, ...body, ''].join('\n');
  });
  const notes = [...used].sort().map((code) => `[^${code}]: \`${code}\`: ${lossCodes[code]}.`);
  return `${[preface, ...sections, flavourSection()].join('\n')}\n${notes.join('\n')}\n`;
}

function textOf({ word, codes }: Cell): string {
  return `${word === 'none' ? '–' : word}${codes.map((code) => `[^${code}]`).join('')}`;
}

/** Settings that are neither texts nor numbers, written as one line each. */
import { isObject } from '../../../../server/contract/is-object.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import type { FieldPath } from '../../../../server/contract/settings-table.ts';
import { webhookEvents } from '../../../../server/contract/webhook-events.ts';

interface StructuredText {
  read(value: unknown): string;
  /** What is wrong with a line is left for the engine to say. */
  parse(lines: readonly string[]): unknown;
}

export const structures = {
  'telemetry.headers': {
    read: (value) =>
      Object.entries(isObject(value) ? value : {})
        .map(([name, text]) => `${name}: ${text}`)
        .join('\n'),
    parse: (lines) => Object.fromEntries(lines.map(headerOf)),
  },
  webhooks: {
    read: (value) => (value as Settings['webhooks']).map(textOfWebhook).join('\n'),
    parse: (lines) => lines.map(webhookOf),
  },
} satisfies Partial<Record<FieldPath, StructuredText>>;

export function isStructured(path: string): path is keyof typeof structures {
  return Object.hasOwn(structures, path);
}

/** A line without a colon yields an invalid name, which the engine then reports. */
function headerOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return colon === -1 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

/** Address, events and the reference of the secret of a webhook. */
export const webhookLine = /^(\S+)(?:\s+([a-z-]+(?:\s*,\s*[a-z-]+)*))?(?:\s+((?:env|file):.+))?$/;

function textOfWebhook({ url, events, secret }: Settings['webhooks'][number]): string {
  const eventPart = events.length < webhookEvents.length ? [events.join(',')] : [];
  return [url, ...eventPart, ...(secret === undefined ? [] : [secret])].join(' ');
}

function webhookOf(line: string): object {
  const [, url = line, events, secret] = webhookLine.exec(line) ?? [];
  return {
    url,
    ...(events !== undefined && { events: events.split(/\s*,\s*/) }),
    ...(secret !== undefined && { secret }),
  };
}

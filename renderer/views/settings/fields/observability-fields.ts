/** Fields for metrics, telemetry and webhooks. */
import type { SettingsChanges } from '../../../../server/contract/commands.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import { webhookEvents } from '../../../../server/contract/webhook-events.ts';
import type { SettingsField } from './settings-field.ts';

type Webhook = Settings['webhooks'][number];
type WrittenWebhook = NonNullable<SettingsChanges['webhooks']>[number];

export const observabilityFields: readonly SettingsField[] = [
  {
    name: 'metrics',
    kind: 'choice',
    values: ['off', 'served'],
    read: ({ metrics }) => (metrics === 'on' ? 'served' : 'off'),
    write: (text, changes) => {
      changes.metrics = text === 'served' ? 'on' : 'off';
    },
  },
  {
    name: 'metricsToken',
    kind: 'text',
    read: ({ metricsToken }) => metricsToken ?? '',
    write: (text, changes) => {
      changes.metricsToken = text.trim() || null;
    },
  },
  {
    name: 'telemetryEndpoint',
    path: 'telemetry.endpoint',
    kind: 'text',
    read: ({ telemetry }) => telemetry.endpoint ?? '',
    write: (text, changes) => {
      changes.telemetry = { ...changes.telemetry, endpoint: text.trim() || null };
    },
  },
  {
    name: 'telemetryHeaders',
    // Locked together with the endpoint, because the header setting itself has one path per header.
    path: 'telemetry.endpoint',
    kind: 'lines',
    read: ({ telemetry }) =>
      Object.entries(telemetry.headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
    write: (text, changes) => {
      changes.telemetry = { ...changes.telemetry, headers: Object.fromEntries(linesOf(text).map(headerOf)) };
    },
  },
  {
    name: 'telemetrySignals',
    path: 'telemetry.metrics',
    kind: 'choice',
    values: ['both', 'traces', 'measurements'],
    read: ({ telemetry: { traces, metrics } }) => (traces === metrics ? 'both' : traces ? 'traces' : 'measurements'),
    write: (text, changes) => {
      changes.telemetry = { ...changes.telemetry, traces: text !== 'measurements', metrics: text !== 'traces' };
    },
  },
  {
    name: 'telemetryProtocol',
    path: 'telemetry.protocol',
    kind: 'choice',
    values: ['http/protobuf', 'http/json'] satisfies Settings['telemetry']['protocol'][],
    read: ({ telemetry }) => telemetry.protocol,
    write: (text, changes) => {
      changes.telemetry = { ...changes.telemetry, protocol: text === 'http/json' ? text : 'http/protobuf' };
    },
  },
  {
    name: 'webhooks',
    kind: 'lines',
    read: ({ webhooks }) => webhooks.map(textOfWebhook).join('\n'),
    write: (text, changes) => {
      changes.webhooks = linesOf(text).map(webhookOf);
    },
  },
];

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** A line without a colon yields an invalid name, which the engine then reports. */
function headerOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return colon === -1 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

const webhookLine = /^(\S+)(?:\s+([a-z-]+(?:\s*,\s*[a-z-]+)*))?(?:\s+((?:env|file):.+))?$/;

function textOfWebhook({ url, events, secret }: Webhook): string {
  const eventPart = events.length < webhookEvents.length ? [events.join(',')] : [];
  return [url, ...eventPart, ...(secret === undefined ? [] : [secret])].join(' ');
}

/** The engine validates the address and the event names, and reports errors. */
function webhookOf(line: string): WrittenWebhook {
  const [, url = line, events, secret] = webhookLine.exec(line) ?? [];
  return {
    url,
    ...(events !== undefined && { events: events.split(/\s*,\s*/) as Webhook['events'] }),
    ...(secret !== undefined && { secret }),
  };
}

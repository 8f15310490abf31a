/** What can be seen to be wrong with the lines of a setting before the engine is asked. Pure. */
import { isSecretHeader } from '../../../server/contract/secret-header.ts';
import { hasUserInfo, looksLikeSecretInHeader } from '../../../server/contract/secret-shape.ts';
import { webhookEvents } from '../../../server/contract/webhook-events.ts';

export type CheckedName = keyof typeof checks;

const reference = /^(?:env|file):.+$/;
/** As the header Host has it, without the port. */
const hostName = /^(?:\*|[a-z0-9._-]+|\[[0-9a-f:.]+\])$/i;
/** As browsers write the header Origin: nothing after the port. Extensions and web views have schemes of their own. */
const origin = /^(?:null|[a-z][a-z0-9+.-]*:\/\/[^\s/?#A-Z]+)$/;
/** Names, addresses and ranges, with a port if need be, as NO_PROXY has them. */
const proxyBypass = /^[\w.*:,[\]-]+(?:\/\d{1,3})?$/;
const headerLine = /^([!#$%&'*+.^_`|~\w-]+)\s*:\s*(\S.*)$/;
const webhookLine = /^(\S+)(?:\s+([a-z-]+(?:\s*,\s*[a-z-]+)*))?(?:\s+((?:env|file):.+))?$/;

const checks = {
  allowedHosts: (line: string) => hostName.test(line),
  allowedOrigins: (line: string) => origin.test(line),
  noProxy: (line: string) => proxyBypass.test(line),
  metricsToken: (line: string) => reference.test(line),
  telemetryEndpoint: (line: string) => isWebAddress(line) && !/[?#]/.test(line),
  telemetryHeaders: isHeader,
  webhooks: isWebhook,
};

/** The first line that cannot be used; null: each can, or the setting is not checked here. */
export function wrongLine(name: string, text: string): string | null {
  const isRight = isChecked(name) ? checks[name] : () => true;
  const lines = text.split('\n').map((line) => line.trim());
  return lines.find((line) => line !== '' && !isRight(line)) ?? null;
}

export function isChecked(name: string): name is CheckedName {
  return Object.hasOwn(checks, name);
}

function isWebAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '') && !hasUserInfo(text);
}

function isHeader(line: string): boolean {
  const [, name, value] = headerLine.exec(line) ?? [];
  if (name === undefined || value === undefined) return false;
  return reference.test(value) || !(isSecretHeader(name) || looksLikeSecretInHeader(value));
}

function isWebhook(line: string): boolean {
  const [, address = '', events] = webhookLine.exec(line) ?? [];
  const known: readonly string[] = webhookEvents;
  const named = events?.split(/\s*,\s*/) ?? [];
  return (reference.test(address) || isWebAddress(address)) && named.every((event) => known.includes(event));
}

/** Detects errors in multi-line settings before they are sent to the engine. Pure. */
import { hasUserInfo, isSecretHeader, looksLikeSecretInHeader } from '../../../../server/contract/secret-shape.ts';
import { entryChecks } from '../../../../server/contract/settings-table.ts';
import { webhookEvents } from '../../../../server/contract/webhook-events.ts';
import { linesOf } from './settings-field.ts';
import { webhookLine } from './structured-texts.ts';

type CheckedName = keyof typeof checks;

const reference = /^(?:env|file):.+$/;
const headerLine = /^([!#$%&'*+.^_`|~\w-]+)\s*:\s*(\S.*)$/;

const checks = {
  ...entryChecks,
  metricsToken: (line: string) => reference.test(line),
  'telemetry.endpoint': (line: string) => isWebAddress(line) && !/[?#]/.test(line),
  'telemetry.headers': isHeader,
  webhooks: isWebhook,
};

/** The first invalid line; null if all are valid or the setting is not checked here. */
export function firstInvalidLine(name: string, text: string): string | null {
  const isValid = isChecked(name) ? checks[name] : () => true;
  return linesOf(text).find((line) => !isValid(line)) ?? null;
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
  const knownNames: readonly string[] = webhookEvents;
  const eventNames = events?.split(/\s*,\s*/) ?? [];
  return (reference.test(address) || isWebAddress(address)) && eventNames.every((event) => knownNames.includes(event));
}

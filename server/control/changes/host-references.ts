/**
 * What a configuration lets Sluice read or write on its host: variables and files in which secrets are, certificate authorities and
 * folders of cassettes. Whoever administers it from afar has no business there but what the host's owner has listed in
 * `people.hostReferences`: he could have any file sent to an address of his own.
 */
import type { Command } from '../../contract/commands.ts';
import type { Config } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import { isObject } from '../../contract/is-object.ts';
import { isReference } from '../../contract/observability.ts';
import { matchesAny } from '../../routing/compile-keys.ts';

interface HostUse {
  /** `env:NAME`, `file:PATH` or `folder:PATH`. */
  reference: string;
  /** Tells it apart from any other use: the entry that names it, and the addresses to which that may send it. */
  use: string;
}

interface ConfigChange {
  command: Command;
  before: Config;
  after: Config;
}

/** Throws a GatewayError `forbidden` if the change, by somebody who has signed in, uses more of the host than is listed. */
export function refuseHostReferences({ command, before, after }: ConfigChange): void {
  const listed = before.settings.people?.hostReferences ?? [];
  const widened = (after.settings.people?.hostReferences ?? []).find((pattern) => !listed.includes(pattern));
  if (widened !== undefined) throw refusal(widened);
  const isListed = matchesAny(listed);
  const known = new Set(usesOf(before).map(({ use }) => use));
  const refused = [...copiedBy(command), ...usesOf(after).filter(({ use }) => !known.has(use))].find(
    ({ reference }) => climbs(reference) || !isListed(reference),
  );
  if (refused) throw refusal(refused.reference);
}

function refusal(reference: string) {
  return controlError('forbidden', { code: 'host-reference', reference });
}

/** `file:/run/secrets/../../etc/passwd` is not below `/run/secrets`. */
function climbs(reference: string): boolean {
  return reference.split(/[/\\]/).includes('..');
}

/** Variables whose present value a command copies into the secret store. */
function copiedBy(command: Command): HostUse[] {
  if (command.type !== 'provider.add') return [];
  return command.credentials.flatMap(({ variable }) =>
    variable === undefined ? [] : [{ reference: `env:${variable}`, use: variable }],
  );
}

function usesOf({ providers, groups, keys, settings }: Config): HostUse[] {
  const { extraCaFiles, ...others } = settings;
  return [
    ...[...providers, ...keys, ...groups].flatMap((entry) => usesIn(entry.id, entry)),
    // Of a list of webhooks, each has its own address.
    ...Object.entries(others).flatMap(([name, value]) => [value].flat().flatMap((each) => usesIn(name, each))),
    ...extraCaFiles.map((path) => ({ reference: `file:${path}`, use: `extraCaFiles ${path}` })),
  ];
}

function usesIn(name: string, entry: unknown): HostUse[] {
  const texts = textsIn(entry, '');
  const destinations = texts.filter(({ text }) => isAddress(text)).map(({ member, text }) => `${member} ${text}`);
  const references = texts.flatMap(({ member, text }) => {
    if (member === 'folder') return [`folder:${text}`];
    return isReference(text) ? [text] : [];
  });
  return references.map((reference) => ({ reference, use: JSON.stringify([name, reference, ...destinations]) }));
}

function isAddress(text: string): boolean {
  return /^https?:/i.test(text);
}

interface NamedText {
  member: string;
  text: string;
}

function textsIn(value: unknown, member: string): NamedText[] {
  if (typeof value === 'string') return [{ member, text: value }];
  if (Array.isArray(value)) return value.flatMap((each) => textsIn(each, member));
  return isObject(value) ? Object.entries(value).flatMap(([name, each]) => textsIn(each, name)) : [];
}

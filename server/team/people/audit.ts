/** Records in the audit list who made a change, and who read what was captured. */
import type { ConfigChange } from '../../contract/change-views.ts';
import type { Command } from '../../contract/commands.ts';
import { GatewayError } from '../../contract/errors.ts';
import { minuteMs } from '../../contract/units.ts';
import type { Caller, People } from '../../control/people/people.ts';
import type { PeopleStore } from '../../store/ports/people-store.ts';

interface AuditPorts {
  store: Pick<PeopleStore, 'note'>;
  nowMs(): number;
  log: { error(fields: object, message: string): void };
}

/** The change has already been made, so a failure to record it only goes to the log. */
export function createAuditChange({ store, nowMs, log }: AuditPorts): People['note'] {
  return async ({ command, by, changes }) => {
    const entry = {
      at: nowMs(),
      ...authorOf(by),
      action: command.type,
      target: command.type === 'person.revoke' ? command.id : (changes[0]?.name ?? targetOf(command)),
      changes: changes.map(withoutHashes),
    };
    try {
      await store.note(entry);
    } catch (error) {
      log.error({ error, entry }, 'a change could not be noted in the audit list');
    }
  };
}

/** Of readers who look at a request again; with more, the oldest are forgotten, and make another entry. */
const mostRemembered = 10_000;

/**
 * A reader who looks at one request again within a minute makes no further entry. What is read is shown only once the
 * entry is stored.
 */
export function createAuditReading({ store, nowMs }: Pick<AuditPorts, 'store' | 'nowMs'>): People['noteReading'] {
  const readings = new Map<string, { atMs: number; noted: Promise<void> }>();
  return async (requestIds, by) => {
    const atMs = nowMs();
    for (const [key, earlier] of readings) {
      if (atMs - earlier.atMs < minuteMs && readings.size <= mostRemembered) break;
      readings.delete(key);
    }
    const keyOf = (id: string) => JSON.stringify([by?.accessId ?? null, id]);
    const unread = requestIds.filter((id) => !readings.has(keyOf(id)));
    const known = requestIds.flatMap((id) => readings.get(keyOf(id))?.noted ?? []);
    if (unread.length > 0) {
      const noted = noteReading(unread, { at: atMs, ...authorOf(by) });
      known.push(noted);
      for (const id of unread) readings.set(keyOf(id), { atMs, noted });
      noted.catch(() => {
        for (const id of unread) readings.delete(keyOf(id));
      });
    }
    await Promise.all(known);
  };

  async function noteReading(ids: readonly string[], author: ReturnType<typeof authorOf> & { at: number }) {
    try {
      await store.note({ ...author, action: 'request.read', target: ids.join(', '), changes: [] });
    } catch (cause) {
      const message =
        'What was captured is not shown, because the audit list cannot be written. Try again in a moment.';
      throw new GatewayError('storage_unavailable', message, { cause });
    }
  }
}

function authorOf(by: Caller | undefined) {
  return {
    personId: by?.person.id ?? null,
    personName: by?.person.name ?? null,
    tokenId: by?.scopes ? by.accessId : null,
    address: by?.address ?? null,
  };
}

/** The object of the command. Its values are not read, because they may be secrets. */
function targetOf(command: Command): string | null {
  if (command.type === 'token.create') return command.name;
  if ('id' in command && command.id !== undefined) return command.id;
  if ('key' in command && command.key !== undefined) return command.key;
  if ('group' in command && typeof command.group === 'string') return command.group;
  return 'provider' in command && typeof command.provider === 'string' ? command.provider : null;
}

/** A changed secret shows in the key's last characters. */
function withoutHashes(change: ConfigChange): ConfigChange {
  return { ...change, fields: change.fields.filter(({ name }) => !/(?:^|\.)hash$/.test(name)) };
}

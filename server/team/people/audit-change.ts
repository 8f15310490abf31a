/** Records in the audit list who made a change. */
import type { ConfigChange } from '../../contract/change-views.ts';
import type { Command } from '../../contract/commands.ts';
import type { People } from '../../control/people/people.ts';
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
      personId: by?.person.id ?? null,
      personName: by?.person.name ?? null,
      tokenId: by?.scopes ? by.accessId : null,
      address: by?.address ?? null,
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

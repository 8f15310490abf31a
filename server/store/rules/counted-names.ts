import type { UsageDimension } from '../../contract/ledger.ts';

/** As `shadowAccount`. */
function accountSql(column: 'key_id' | 'group_id'): string {
  return `CASE WHEN shadow_of IS NULL THEN coalesce(${column}, '') ELSE 'shadow:' || coalesce(group_id, '') END`;
}

/** The name under which a row of `requests` is counted, as SQL for both SQLite and PostgreSQL; empty: none. */
export const nameColumns: Readonly<Record<UsageDimension, string>> = {
  day: "''",
  key: accountSql('key_id'),
  group: accountSql('group_id'),
  model: "coalesce(model_served, model_asked, '')",
  provider: "coalesce(provider, '')",
};

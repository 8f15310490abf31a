export const status = {
  title: 'Status',
  baseUrl: 'Base URL',
  started: 'Started',
  version: 'Version',
  revision: 'Configuration',
  revisionNumber: (revision: string) => `revision ${revision}`,
  secrets: 'Secrets',
  secretsUnopened: 'not needed so far',
  ledger: 'Ledger',
  ledgerOk: 'recording',
  ledgerDropped: (rows: number, count: string) => `${count} ${rows === 1 ? 'row' : 'rows'} lost`,
  ledgerBroken: 'not recording',
};

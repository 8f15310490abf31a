import type * as english from '../en/overview.ts';

export const status: typeof english.status = {
  title: '状态',
  baseUrl: 'Base URL',
  started: '启动',
  version: '版本',
  revision: '配置',
  revisionNumber: (revision) => `修订版 ${revision}`,
  secrets: '机密存储',
  secretsUnopened: '尚未用到',
  ledger: '账本',
  ledgerOk: '正常记录',
  ledgerDropped: (_rows, count) => `丢失 ${count} 行`,
  ledgerBroken: '未在记录',
};

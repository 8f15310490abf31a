import type * as english from '../en/overview.ts';

export const status: typeof english.status = {
  title: '状态',
  baseUrl: 'Base URL',
  running: '正在进行',
  started: '启动',
  version: '版本',
  revision: '配置',
  revisionNumber: (revision) => `修订版 ${revision}`,
  secrets: '机密存储',
  secretStores: { keychain: '钥匙串', file: '加密文件', memory: '内存中' },
  secretsUnopened: '尚未用到',
  ledger: '账本',
  ledgerOk: '正常记录',
  ledgerDropped: (_rows, count) => `丢失 ${count} 行`,
  ledgerBroken: '未在记录',
};

export const overview: typeof english.overview = {
  range: '时间',
  ranges: { hour: '1 小时', day: '24 小时', week: '7 天', month: '30 天', quarter: '90 天' },
  usage: '用量',
  metrics: { requests: '请求', tokens: '令牌数', cost: '费用', errors: '错误率', firstByte: '首字节' },
  tokensDetail: (input, output) => `输入 ${input}，输出 ${output}`,
  errorsDetail: (errors) => `${errors} 个失败`,
  p95Detail: (duration) => `95% 在 ${duration} 内`,
  median: '中位数',
  p95: '第 95 百分位',
  firstByteFigures: { together: '全部', median: '各自的中位数', p95: '各自的 95%' },
  all: '全部',
  others: '其他',
  nameless: { model: '未指定模型', provider: '未询问提供方', key: '无有效密钥', group: '无分组' },
  top: '使用最多',
  by: '分类',
  dimensions: { model: '模型', provider: '提供方', key: '密钥', group: '分组' },
  dimensionNames: { model: '模型', provider: '提供方', key: '密钥', group: '分组' },
  columns: { requests: '请求', errors: '错误', tokens: '令牌数', cost: '费用' },
  unpriced: (requests) => `${requests} 个请求的价格未知`,
  nobody: '这段时间没有用量。',
  emptyTitle: '这段时间没有请求',
  emptyNext: '请选择更长的时间，或让程序使用上面的 Base URL。',
};

export const attention: typeof english.attention = {
  title: '需要留意',
  texts: {
    'provider-unusable': (name, reason) => `提供方 ${name}：${reason}。`,
    'provider-unlisted': (name, reason) => `无法列出 ${name} 的模型：${reason}`,
    'provider-left-alone': (name, reason) => `提供方 ${name}：${reason}`,
    'credential-left-alone': (name, credential, reason) => `提供方 ${name} 的凭据“${credential}”：${reason}`,
    'config-restored': (movedTo) =>
      movedTo === null
        ? '上次启动时配置文件缺失，已从备份恢复。请检查密钥和设置是否与您离开时一致。'
        : `上次启动时配置文件已损坏，已从备份恢复。请检查密钥和设置是否与您离开时一致。损坏的文件保留为 ${movedTo}。`,
    'config-lost': (movedTo) =>
      movedTo === null
        ? '上次启动时配置文件缺失，且没有可用的备份：Sluice 以空配置启动。'
        : `上次启动时配置文件已损坏，且没有可用的备份：Sluice 以空配置启动。损坏的文件保留为 ${movedTo}。`,
    'ledger-broken': (reason) => `请求未被记录。${reason}`,
    'ledger-dropped': (rows) => `有 ${rows} 个请求未能记录。`,
    'ledger-replaced': (reason, movedTo) =>
      movedTo === null
        ? `记录文件已重新建立：${reason}。原有记录已不存在。`
        : `记录文件无法使用（${reason}），已重新建立。原文件保留为 ${movedTo}。`,
    'budgets-unwritten': (reason) => `预算的已用数额无法另行保存。${reason}`,
    'budgets-lost': '预算的累计数额已随记录文件一同丢失：所有预算（包括硬预算）均从那时起重新计算。',
    refused: (requests) => `最近一小时内被拒绝：${requests}。`,
    standstill: (duration, at, request) =>
      request === null
        ? `Sluice 曾停顿 ${duration}（${at}），期间没有处理任何请求，当时也没有在处理某个请求。`
        : `Sluice 曾停顿 ${duration}（${at}），当时正在处理密钥 ${request.keyId} 的请求 ${request.id}（${request.route}），期间没有处理其他请求。`,
    'key-expired': (name) => `密钥“${name}”已过期，使用它的程序会被拒绝。`,
    'key-expires': (name, day) => `密钥“${name}”将于 ${day} 到期。`,
    'key-budget': (name, used, amount) => `密钥“${name}”的预算 ${amount} 已用 ${used}。`,
    'group-budget': (name, used, amount) => `分组“${name}”的预算 ${amount} 已用 ${used}。`,
    'key-unpriced': (name, requests, budget) =>
      `密钥“${name}”有 ${requests} 个请求的费用未知，未计入其预算（${budget}）。请在 settings.prices 中设置价格。`,
    'group-unpriced': (name, requests, budget) =>
      `分组“${name}”有 ${requests} 个请求的费用未知，未计入其预算（${budget}）。请在 settings.prices 中设置价格。`,
    'no-provider': '没有启用任何提供方，所有请求都会被拒绝。',
    'demo-only': '只有演示在回答，而它的回答是虚构的。',
    'no-key': '没有密钥，任何程序都无法使用 Sluice。',
  },
  mends: {
    'provider-unusable': '查看提供方',
    'provider-unlisted': '查看提供方',
    'provider-left-alone': '查看提供方',
    'credential-left-alone': '查看凭据',
    'config-restored': '查看设置',
    'config-lost': '查看设置',
    'ledger-broken': '查看请求',
    'ledger-dropped': '查看请求',
    'ledger-replaced': '查看请求',
    'budgets-unwritten': '查看密钥',
    'budgets-lost': '查看密钥',
    refused: '查看请求',
    standstill: '查看请求',
    'key-expired': '查看密钥',
    'key-expires': '查看密钥',
    'key-budget': '查看密钥',
    'group-budget': '查看分组',
    'key-unpriced': '查看密钥',
    'group-unpriced': '查看分组',
    'no-provider': '启用提供方',
    'demo-only': '添加提供方',
    'no-key': '新建密钥',
  },
};

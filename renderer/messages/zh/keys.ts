import type * as english from '../en/keys.ts';

export const keys: typeof english.keys = {
  lead: '密钥交给程序，程序凭它使用 Sluice。每个程序各用一个，就能知道谁用了什么。',
  title: '密钥',
  create: '新建密钥',
  switch: (name) => `允许使用密钥 ${name}`,
  neverUsed: '从未使用',
  used: (ago) => `${ago}使用`,
  expires: (moment) => `${moment} 到期`,
  expired: '已过期',
  group: (group) => `分组 ${group}`,
  reveal: (name) => `显示 ${name} 的密钥内容`,
  edit: (name) => `修改 ${name}`,
  editTitle: '修改此密钥',
  rotate: (name) => `更换 ${name} 的密钥内容…`,
  rotateTitle: '更换此密钥的内容？',
  rotateText: (name) => `程序手中“${name}”的旧内容立即失效；在得到新内容之前，它们会被拒绝。`,
  rotateConfirm: '更换',
  rotated: '新的密钥内容',
  snippetsFor: '用于',
  snippets: { env: '命令行', curl: 'curl 命令', python: 'Python 代码', node: 'Node 代码' },
  revoke: (name) => `吊销 ${name}…`,
  revokeTitle: '吊销此密钥？',
  revokeText: (name) => `使用密钥“${name}”的程序从下一个请求起将被拒绝。此操作无法撤销；其请求记录仍会保留。`,
  revokeConfirm: '吊销',
  emptyTitle: '没有密钥',
  emptyNext: '程序需要密钥才能使用 Sluice。新建一个，其内容会显示出来供复制。',
};

export const createKey: typeof english.createKey = {
  title: '新建密钥',
  name: '名称',
  nameHint: '使用它的程序或人',
  namePlaceholder: 'my-editor',
  group: '分组',
  expiry: '有效期',
  expiryNever: '永不过期',
  expiryDays: (_days, count) => `${count} 天后`,
  models: '模型',
  modelsHint: '名称或 gpt-* 这样的模式；每个后按 Enter',
  modelsAll: '分组允许的全部模型',
  keepSecret: '保存密钥内容，以便再次显示',
  submit: '创建',
};

export const secret: typeof english.secret = {
  created: '密钥已创建',
  revealed: '密钥内容',
  once: (name) => `这是“${name}”的密钥内容。请立即复制：它不会被保存，也无法再次显示。`,
  kept: (name) => `这是“${name}”的密钥内容。它保存在机密存储中，可以再次显示。`,
  what: '密钥内容',
};

import type * as english from '../en/people.ts';
import { cassetteActions } from './cassettes.ts';
import { connectActions } from './connect.ts';
import { faultActions } from './faults.ts';
import { groupActions } from './groups.ts';
import { keyActions } from './keys.ts';
import { aliasActions } from './models.ts';
import { pricesActions } from './prices.ts';
import { providerActions } from './providers.ts';
import { requestActions } from './requests.ts';
import { sessionActions } from './sessions.ts';
import { settingsActions } from './settings.ts';
import { presetActions } from './team.ts';
import { captureActions } from './timed-capture.ts';

export const signIn: typeof english.signIn = {
  title: '登录 Sluice',
  titleEnded: '你已退出登录',
  lead: '使用你所在组织的账号登录。',
  button: '登录',
  noRole: '你在此 Sluice 中还没有角色。请让管理员添加你所在的组，然后重新登录。',
  notAssigned: '你的组织未向你分配此 Sluice，或已收回。请联系账号的管理员。',
  tooMany: '登录尝试过多。请等一分钟后重试。',
  failed: '登录未成功，请重试。如果再次出现，请联系管理员。',
  note: '无论是否登录，你的密钥都照常可用。',
};

export const account: typeof english.account = {
  label: '账号',
  admin: '管理员',
  manager: (groups) => `${groups} 的负责人`,
  member: (groups) => `${groups} 的成员`,
  signOut: '退出登录',
  open: '你的账号',
};

export const people: typeof english.people = {
  title: '用户',
  tabs: { people: '用户', tokens: 'API token', audit: '审计' },
  tabsLabel: '显示',
  search: '搜索用户',
  you: '你',
  noRole: '目前没有角色',
  disabled: '已停用',
  signedIn: (ago) => `${ago}登录`,
  checked: (ago) => `所属组读取于${ago}`,
  unchecked: '所属组在下次登录时重新读取',
  emptyTitle: '还没有人登录',
  emptyNext: '用组织账号登录过的人会显示在这里。',
  noneFound: (search) => `没有与“${search}”匹配的用户。`,
  showAll: (count) => `显示全部 ${count} 个`,
  signOut: (name) => `让 ${name} 在所有地方退出登录…`,
  signOutTitle: '在所有地方退出登录',
  signOutText: (name) => `${name} 的所有会话和 API token 会立即失效。密钥仍然可用。`,
  signOutConfirm: '退出登录',
  signedOut: (name, count) => `${name} 已退出登录：结束了 ${count} 个会话和 API token。`,
  limit: (name) => `${name} 的限额…`,
  limitTitle: (name) => `${name} 的限额`,
  ownLimits: '单独设置限额',
  ownLimitsHint: '否则适用设置中为所有人规定的限额（如有）。',
  limitHint: '对其所有密钥合计；密钥和分组的限额同样适用。',
  limited: (name) => `已保存 ${name} 的限额。`,
  revoke: (name) => `吊销 ${name} 的所有访问权限…`,
  revokeTitle: '吊销所有访问权限',
  revokeText: (name) =>
    `${name} 的所有会话和 API token 会立即失效，其所有密钥都会被吊销。此操作无法撤销；请求记录仍会保留。`,
  revokeConfirm: '吊销',
  revoked: (name, keys) => `已吊销 ${name} 的所有访问权限，包括 ${keys} 个密钥。`,
};

export const scim: typeof english.scim = {
  title: 'SCIM 同步',
  hint: '未启用。启用 SCIM 后，身份提供者（Okta、Microsoft Entra）会推送用户和组：离职者会立即失去会话、API token 和密钥。',
  pushed: (users, active, groups) => `用户：${users}，其中有效：${active}。组：${groups}。`,
  withoutExternalId: (count) =>
    `没有 externalId 的有效用户：${count}。任何登录者都无法与他们对应：请同时推送 externalId。`,
  unknownPeople: (count) =>
    `已登录但 SCIM 不认识的用户：${count}。SCIM 无法停用他们。如果已为他们分配应用，请核对 people.externalIdClaim 与所推送的 externalId。`,
  neverUsed: '尚未使用。',
  used: (ago) => `${ago}使用过。`,
  address: 'SCIM 地址',
  on: '启用…',
  onTitle: '启用 SCIM',
  onText: '将为身份提供者生成一个 token。此后只有它推送过的用户和管理员可以登录。已打开的会话不受影响。',
  deletes: '另一个身份提供者推送过的内容会被删除。',
  onConfirm: '启用',
  replace: '新建 token…',
  replaceTitle: '新建 SCIM token',
  replaceText: '之前的 token 会立即失效：在身份提供者使用新 token 之前，不会再推送任何内容。',
  replaceConfirm: '新建 token',
  off: '停用…',
  offTitle: '停用 SCIM',
  offText: 'token 会立即失效，已推送的内容不再生效。如果身份提供者允许，被它停用的用户可以重新登录。',
  offConfirm: '停用',
  made: 'SCIM token 已生成',
  once: '这是供身份提供者使用的 token。请立即复制：只保存它的哈希值，无法再次显示。',
  what: '这个 token',
};

export const tokens: typeof english.tokens = {
  title: 'API token',
  hint: '供管理此 Sluice 的流水线和脚本使用。token 在其权限范围内可以做你能做的事。调用模型的程序请使用密钥。',
  create: '新建 API token',
  createTitle: '新建 API token',
  name: '名称',
  namePlaceholder: 'pipeline',
  scopes: '权限范围',
  scopeNames: { read: '读取', keys: '密钥', write: '写入' },
  scopeHints: {
    read: '查看你能看到的内容：密钥、请求记录、用量',
    keys: '创建、修改、更换和吊销密钥',
    write: '更改你有权更改的一切',
  },
  expiry: '有效期',
  days: (count) => (count === 365 ? '一年' : `${count} 天`),
  submit: '创建',
  created: 'API token 已创建',
  once: (name) => `这是 API token“${name}”。请立即复制：只保存它的哈希值，无法再次显示。`,
  what: '这个 API token',
  of: (person) => `属于 ${person}`,
  createdAgo: (ago) => `${ago}创建`,
  expires: (day) => `${day}到期`,
  expired: '已过期',
  emptyTitle: '没有 API token',
  emptyNext: '为流水线或脚本新建一个。',
  emptyNextOfAll: '用户可以在“账号”页面新建，或使用 “sluice token create”。',
  revoke: (name) => `吊销 ${name}…`,
  revokeTitle: '吊销 API token',
  revokeText: (name) => `“${name}”会立即失效。此操作无法撤销。`,
  revokeConfirm: '吊销',
};

const peopleActions: typeof english.peopleActions = {
  'sign-in': () => '登录',
  left: (keys) => `已离开（身份提供者告知）${keys && `；其在配置文件中的密钥仍然有效：${keys}`}`,
  'token.create': (target) => `创建了 API token ${target}`,
  'token.revoke': (target) => `吊销了 API token ${target}`,
  'person.sign-out': (target) => `让 ${target} 在所有地方退出登录`,
  'person.limit': (target) => `更改了 ${target} 的限额`,
  'person.revoke': (target) => `吊销了 ${target} 的所有访问权限`,
  'scim.token': () => '生成了 SCIM token',
  'scim.off': () => '停用了 SCIM',
  'scim.user.create': (target) => `添加了 ${target}`,
  'scim.user.update': (target) => `更改了 ${target}`,
  'scim.user.disable': (target) => `停用了 ${target}`,
  'scim.user.enable': (target) => `重新启用了 ${target}`,
  'scim.user.delete': (target) => `删除了 ${target}`,
  'scim.group.create': (target) => `添加了组 ${target}`,
  'scim.group.update': (target) => `更改了组 ${target}`,
  'scim.group.delete': (target) => `删除了组 ${target}`,
  'team.join': () => '开始加入团队网关',
  'team.finish-join': () => '加入了团队网关',
  'team.leave': (target) => `离开了团队网关 ${target}`,
};

const actions: typeof english.audit.actions = {
  ...providerActions,
  ...keyActions,
  ...captureActions,
  ...faultActions,
  ...peopleActions,
  ...requestActions,
  ...sessionActions,
  ...groupActions,
  ...pricesActions,
  ...cassetteActions,
  ...aliasActions,
  ...settingsActions,
  ...presetActions,
  ...connectActions,
};

export const audit: typeof english.audit = {
  actions,
  other: (action, target) => `执行了命令 ${action} ${target}`,
  machine: '本机的管理员 token',
  filter: '用户',
  everybody: '所有人',
  from: (address) => `来自 ${address}`,
  byToken: '通过 API token',
  details: (_count, number) => `${number} 处更改`,
  emptyTitle: '没有条目',
  emptyNext: '更改、登录和对捕获内容的查看会显示在这里，保留 400 天。',
  newer: '较新',
  older: '较早',
  pages: '翻页',
};

export const ownUsage: typeof english.ownUsage = {
  title: '你的用量',
  hint: '使用你自己的密钥的请求，以请求记录保留的时间为限。',
  limits: '你的限额（所有密钥合计）',
  whose: '谁的用量',
  own: '你的',
  managed: '你的分组',
  managedHint: '使用你管理的分组的所有密钥和你自己的密钥的请求，以请求记录保留的时间为限。',
  range: '时间',
  chart: (metric) => `各模型的${metric}`,
  emptyTitle: '此时间段内没有请求',
  emptyNext: '选择更长的时间段，或在程序中使用你的密钥。',
};

export const joining: typeof english.joining = {
  open: '加入团队网关…',
  title: '加入团队网关',
  text: '团队的 Sluice 会成为这里的一个服务商，并使用你自己的密钥。经由它的请求也保留在你自己的请求记录中。',
  url: '网关地址',
  urlPlaceholder: 'https://gateway.example',
  next: '下一步',
  confirmText: (host) => `使用组织账号登录 ${host}，并在那里确认此验证码：`,
  code: '验证码',
  openPage: '打开登录页面',
  waiting: '正在等待你确认验证码…',
  chooseText: '你属于多个分组。你的密钥应属于哪一个？',
  group: '分组',
  join: '加入',
  again: '重新开始',
  presetText: (host) => `你已加入 ${host}。它提供了一份团队预设：`,
  withoutPreset: '不应用并继续',
  presetManaged: (host) => `你已加入 ${host}。本机已有管理员设置的预设，因此不应用它的团队预设。`,
  presetUnusable: (host) => `你已加入 ${host}。它的团队预设无法应用。`,
  tag: '团队网关',
  leave: '离开…',
  leaveNamed: (name) => `离开 ${name}…`,
  leaveTitle: '离开此团队网关？',
  leaveText: (name, preset) =>
    `这里的“${name}”将被移除，你在那里的密钥和登录也会失效。${preset === null ? '' : `它的团队预设“${preset}”将不再锁定任何内容，其中只指向该网关的别名会被移除。`}你发送的请求仍保留在你的请求记录中。`,
  keyStays: (name) => `无法吊销你在 ${name} 的密钥。请在那里的窗口中吊销它。`,
  leaveConfirm: '离开',
};

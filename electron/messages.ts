/** Texts of tray, dialogs and notifications. Those of the window are in `renderer/messages/`. */
import type { TextsOf } from '../server/contract/coded.ts';
import { controlProblemTexts } from '../server/contract/control-problem-texts.ts';
import { controlProblemTextsZh } from '../server/contract/control-problem-texts-zh.ts';
import type { NotificationKind } from '../server/contract/ipc.ts';
import type { Budget } from '../server/contract/limit-settings.ts';
import { placeTexts, placeTextsZh } from '../server/contract/places.ts';
import type { Policy } from '../server/contract/policy.ts';
import { conditionTexts, conditionTextsZh } from '../server/contract/provider-condition.ts';
import { counted } from '../server/contract/units.ts';
import type { StartProblems } from './start-problem.ts';

const startProblems: TextsOf<StartProblems> = {
  'folder-taken': ({ folder, pid }) =>
    `Another Sluice is running on ${folder} (process ${pid}). Stop it, then switch this one on.`,
  'port-taken': ({ port }) => `Port ${port} is used by another program.`,
  'stop-failed': ({ message }) => `Sluice did not stop cleanly: ${message}`,
  other: ({ message }) => message,
};

const en = {
  off: 'Sluice is off',
  starting: 'Sluice is starting…',
  stopping: 'Sluice stops when running requests have ended…',
  serving: (address: string) => `Serving at ${address}`,
  failed: (problem: string) => `Not running: ${problem}`,
  startProblems,
  gatewayOn: 'Gateway on',
  providers: 'Providers',
  noProviders: 'No providers yet',
  demo: 'Sluice demo',
  inCondition: (name: string, condition: string) => `${name}: ${condition}`,
  health: conditionTexts,
  defaultGroup: (models: string, strategy: string) => `Default group: ${models}, ${strategy}`,
  /** How the order of targets is chosen. */
  strategies: {
    priority: 'in order',
    weighted: 'weighted',
    'round-robin': 'round robin over credentials',
    'lowest-latency': 'lowest latency',
    'lowest-price': 'lowest price',
    sticky: 'sticky conversations',
  } satisfies Record<Policy['strategy'], string>,
  groupLimits: (limits: string[]) => `Limits: ${limits.join(', ')}`,
  limits: {
    requestsPerMinute: (count: string) => `${counted(count, 'request')} a minute`,
    tokensPerMinute: (count: string) => `${counted(count, 'token')} a minute`,
    concurrent: (count: string) => `${count} concurrent`,
    budgets: {
      day: (amount: string) => `${amount} a day`,
      week: (amount: string) => `${amount} a week`,
      month: (amount: string) => `${amount} a month`,
      total: (amount: string) => `${amount} in total`,
    } satisfies Record<Budget['per'], (amount: string) => string>,
  },
  allModels: 'all models',
  noDefaultGroup: 'No default group',
  today: (requests: string, tokens: string, cost: string) =>
    `Today: ${counted(requests, 'request')}, ${counted(tokens, 'token')}, ${cost}`,
  unknownCost: 'cost unknown',
  lastError: (summary: string) => `Last error: ${summary}`,
  copyBaseUrl: 'Copy base URL',
  copyKey: 'Copy a key',
  noKeys: 'No keys to copy',
  openWindow: 'Open Sluice',
  startAtLogin: 'Start at login',
  checkForUpdates: 'Check for updates',
  checkingForUpdates: 'Checking for updates…',
  downloadingUpdate: (version: string) => `Downloading ${version}…`,
  installUpdate: (version: string) => `Install ${version} and restart`,
  isCurrent: 'Sluice is up to date',
  updateFailed: 'The update failed; try again',
  updatesManaged: 'Updates come with this installation',
  showLogFolder: 'Show log folder',
  quit: 'Quit Sluice',
  startFailed: 'Sluice could not start',
  installFailed: 'The update could not be installed. Sluice keeps running the current version.',
  /** The application's menu. */
  menu: {
    about: 'About Sluice',
    settings: 'Settings…',
    services: 'Services',
    hide: 'Hide Sluice',
    hideOthers: 'Hide Others',
    showAll: 'Show All',
    edit: 'Edit',
    undo: 'Undo',
    redo: 'Redo',
    cut: 'Cut',
    copy: 'Copy',
    paste: 'Paste',
    pasteAsText: 'Paste and Match Style',
    delete: 'Delete',
    selectAll: 'Select All',
    view: 'View',
    places: placeTexts,
    find: 'Find Anything…',
    reloadData: 'Reload Data',
    actualSize: 'Actual Size',
    zoomIn: 'Zoom In',
    zoomOut: 'Zoom Out',
    fullScreen: 'Toggle Full Screen',
    reloadPage: 'Reload Page',
    developerTools: 'Developer Tools',
    window: 'Window',
    minimize: 'Minimize',
    close: 'Close',
    bringAllToFront: 'Bring All to Front',
    help: 'Help',
  },
  unsaved: { title: 'Discard unsaved changes?', keep: 'Keep editing', discard: 'Discard changes' },
  /** A command of the tray failed; `reason` is the engine's message, in English. */
  commandFailed: (reason: string) => reason,
  controlProblems: controlProblemTexts,
  budgetReached: (percent: number, amount: string) => `${percent}% of ${amount} used.`,
  tokens: (amount: string) => counted(amount, 'token'),
  session: (client: string) => `a session of ${client}`,
  unknownClient: 'an unknown client',
  sessionBudgetReached: {
    notify: (amount: string) => `It has cost ${amount}.`,
    stop: (amount: string) => `It has cost ${amount} and was stopped. You can resume it in Sluice.`,
  },
  notifications: {
    'provider-unusable': {
      title: (name: string) => `${name} cannot be used`,
      body: (reason: string) => reason,
    },
    'credential-refused': {
      title: (name: string) => `${name} rejected a credential`,
      body: () => 'Enter a new one in Sluice.',
    },
    'budget-reached': {
      title: (name: string) => `Budget of ${name}`,
      body: (detail: string) => detail,
    },
    'update-ready': {
      title: (version: string) => `Sluice ${version} is ready`,
      body: () => 'Install it from the tray menu.',
    },
  } satisfies Record<NotificationKind, NotificationTexts>,
  /** Buttons of notifications. */
  notificationActions: { open: 'Open', stop: 'Stop', 'raise-limit': 'Raise limit…' } satisfies Record<
    NotificationAct,
    string
  >,
};

export type NotificationAct = 'open' | 'stop' | 'raise-limit';

interface NotificationTexts {
  title(subject: string): string;
  body(detail: string): string;
}

export type ShellMessages = typeof en;

const zh: ShellMessages = {
  off: 'Sluice 已关闭',
  starting: 'Sluice 正在启动…',
  stopping: '正在等待进行中的请求结束…',
  serving: (address) => `正在服务：${address}`,
  failed: (problem) => `未运行：${problem}`,
  startProblems: {
    'folder-taken': ({ folder, pid }) => `另一个 Sluice 正在使用 ${folder}（进程 ${pid}）。请先停止它，再启用网关。`,
    'port-taken': ({ port }) => `端口 ${port} 已被其他程序占用。`,
    'stop-failed': ({ message }) => `Sluice 未能正常停止：${message}`,
    other: ({ message }) => message,
  },
  gatewayOn: '启用网关',
  providers: '服务商',
  noProviders: '还没有服务商',
  demo: 'Sluice 演示',
  inCondition: (name, condition) => `${name}：${condition}`,
  health: conditionTextsZh,
  defaultGroup: (models, strategy) => `默认分组：${models}，${strategy}`,
  strategies: {
    priority: '按顺序',
    weighted: '按权重',
    'round-robin': '凭据轮流',
    'lowest-latency': '延迟最低优先',
    'lowest-price': '价格最低优先',
    sticky: '会话保持',
  },
  groupLimits: (limits) => `限额：${limits.join('，')}`,
  limits: {
    requestsPerMinute: (count) => `每分钟 ${count} 个请求`,
    tokensPerMinute: (count) => `每分钟 ${count} 个 token`,
    concurrent: (count) => `同时 ${count} 个`,
    budgets: {
      day: (amount) => `每天 ${amount}`,
      week: (amount) => `每周 ${amount}`,
      month: (amount) => `每月 ${amount}`,
      total: (amount) => `总计 ${amount}`,
    },
  },
  allModels: '全部模型',
  noDefaultGroup: '没有默认分组',
  today: (requests, tokens, cost) => `今天：${requests} 个请求，${tokens} 个 token，${cost}`,
  unknownCost: '费用未知',
  lastError: (summary) => `最近的错误：${summary}`,
  copyBaseUrl: '复制 Base URL',
  copyKey: '复制密钥',
  noKeys: '没有可以复制的密钥',
  openWindow: '打开 Sluice',
  startAtLogin: '登录时启动',
  checkForUpdates: '检查更新',
  checkingForUpdates: '正在检查更新…',
  downloadingUpdate: (version) => `正在下载 ${version}…`,
  installUpdate: (version) => `安装 ${version} 并重启`,
  isCurrent: 'Sluice 已是最新版本',
  updateFailed: '更新失败，请重试',
  updatesManaged: '更新由安装来源提供',
  showLogFolder: '打开日志文件夹',
  quit: '退出 Sluice',
  startFailed: 'Sluice 无法启动',
  installFailed: '更新无法安装，Sluice 照常运行。',
  menu: {
    about: '关于 Sluice',
    settings: '设置…',
    services: '服务',
    hide: '隐藏 Sluice',
    hideOthers: '隐藏其他',
    showAll: '全部显示',
    edit: '编辑',
    undo: '撤销',
    redo: '重做',
    cut: '剪切',
    copy: '复制',
    paste: '粘贴',
    pasteAsText: '粘贴并匹配样式',
    delete: '删除',
    selectAll: '全选',
    view: '显示',
    places: placeTextsZh,
    find: '查找…',
    reloadData: '重新加载数据',
    actualSize: '实际大小',
    zoomIn: '放大',
    zoomOut: '缩小',
    fullScreen: '切换全屏',
    reloadPage: '重新加载页面',
    developerTools: '开发者工具',
    window: '窗口',
    minimize: '最小化',
    close: '关闭',
    bringAllToFront: '全部置于前面',
    help: '帮助',
  },
  unsaved: { title: '放弃未保存的更改？', keep: '继续编辑', discard: '放弃更改' },
  commandFailed: (reason) => `操作未成功。${reason}`,
  controlProblems: controlProblemTextsZh,
  budgetReached: (percent, amount) => `${amount} 已使用 ${percent}%。`,
  tokens: (amount) => `${amount} 个 token`,
  session: (client) => `${client} 的会话`,
  unknownClient: '未知客户端',
  sessionBudgetReached: {
    notify: (amount) => `费用已达 ${amount}。`,
    stop: (amount) => `费用已达 ${amount}，已停止。可以在 Sluice 中恢复。`,
  },
  notifications: {
    'provider-unusable': { title: (name) => `${name} 无法使用`, body: (reason) => reason },
    'credential-refused': { title: (name) => `${name} 拒绝了凭据`, body: () => '请在 Sluice 中输入新的凭据。' },
    'budget-reached': { title: (name) => `${name} 的预算`, body: (detail) => detail },
    'update-ready': { title: (version) => `Sluice ${version} 已就绪`, body: () => '可以从托盘菜单安装。' },
  },
  notificationActions: { open: '打开', stop: '停止', 'raise-limit': '提高限额…' },
};

/** @param locale BCP 47 tag from the operating system, such as `zh-CN` */
export function messagesFor(locale: string): ShellMessages {
  return locale.toLowerCase().startsWith('zh') ? zh : en;
}

/** The texts of tray, dialogs and notifications; those of the window are its own. */
import type { NotificationKind } from '../server/contract/ipc.ts';

const en = {
  off: 'Sluice is off',
  starting: 'Sluice is starting…',
  stopping: 'Sluice stops when running requests have ended…',
  serving: (address: string) => `Serving at ${address}`,
  failed: (problem: string) => `Not running: ${problem}`,
  gatewayOn: 'Gateway on',
  providers: 'Providers',
  noProviders: 'No providers yet',
  unusable: (name: string, reason: string) => `${name}: ${reason}`,
  defaultGroup: (models: string) => `Default group: ${models}`,
  allModels: 'all models',
  noDefaultGroup: 'No default group',
  today: (requests: string, tokens: string, cost: string) => `Today: ${requests} requests, ${tokens} tokens, ${cost}`,
  lastError: (what: string) => `Last error: ${what}`,
  copyBaseUrl: 'Copy base URL',
  copyKey: 'Copy a key',
  noKeys: 'No key that can be copied',
  openWindow: 'Open Sluice',
  startAtLogin: 'Start at login',
  checkForUpdates: 'Check for updates',
  checkingForUpdates: 'Checking for updates…',
  downloadingUpdate: (version: string) => `Downloading ${version}…`,
  installUpdate: (version: string) => `Install ${version} and restart`,
  isCurrent: 'Sluice is up to date',
  updateFailed: 'Updates could not be checked; try again',
  updatesManaged: 'Updates come with this installation',
  quit: 'Quit Sluice',
  startFailedTitle: 'Sluice could not start',
  notifications: {
    'provider-unusable': {
      title: (name: string) => `${name} cannot be used`,
      body: (reason: string) => reason,
    },
    'credential-refused': {
      title: (name: string) => `${name} refuses a credential`,
      body: () => 'Enter a new one in Sluice.',
    },
    'update-ready': {
      title: (version: string) => `Sluice ${version} is ready`,
      body: () => 'It is installed when you say so, from the tray.',
    },
  } satisfies Record<NotificationKind, NotificationTexts>,
};

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
  gatewayOn: '启用网关',
  providers: '提供方',
  noProviders: '还没有提供方',
  unusable: (name, reason) => `${name}：${reason}`,
  defaultGroup: (models) => `默认分组：${models}`,
  allModels: '全部模型',
  noDefaultGroup: '没有默认分组',
  today: (requests, tokens, cost) => `今天：${requests} 个请求，${tokens} 个 token，${cost}`,
  lastError: (what) => `最近的错误：${what}`,
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
  updateFailed: '无法检查更新，请重试',
  updatesManaged: '更新由安装方提供',
  quit: '退出 Sluice',
  startFailedTitle: 'Sluice 无法启动',
  notifications: {
    'provider-unusable': { title: (name) => `${name} 无法使用`, body: (reason) => reason },
    'credential-refused': { title: (name) => `${name} 拒绝了凭据`, body: () => '请在 Sluice 中输入新的凭据。' },
    'update-ready': { title: (version) => `Sluice ${version} 已就绪`, body: () => '可以从托盘菜单安装。' },
  },
};

/** @param locale as the system names it, such as `zh-CN` */
export function messagesFor(locale: string): ShellMessages {
  return locale.toLowerCase().startsWith('zh') ? zh : en;
}

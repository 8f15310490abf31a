import type * as english from '../en/team.ts';

/** Team presets: their changes and locks. */
export const team: typeof english.team = {
  title: '团队预设',
  part: '团队',
  hint: '团队可以用文件或链接分发服务商、别名、分组和设置。每项更改都会先展示给你，你只需填入自己的凭据。',
  none: '此处没有生效的团队预设。',
  invite: {
    title: '邀请用户',
    alone:
      '多人可以登录并共用同一个 Sluice，各有自己的密钥和预算。这需要一个公开地址，并在配置的 people 一节中填写你的身份提供者（docs/teams.md）。这样启动：',
    command: '命令',
    shared: '把此地址发给对方。对方登录后，在自己的分组中新建密钥，再接入自己的工具。',
    address: '地址',
    open: '打开用户页面',
  },
  sources: {
    'built-in': '内置于此程序。',
    policy: '由本机管理员放置。',
    imported: '在此处导入。',
  },
  fromGateway: (host) => `在加入 ${host} 时应用。`,
  by: (organisation) => `来自 ${organisation}`,
  version: (version) => `版本 ${version}`,
  ask: (contact) => `如有疑问：${contact}`,
  choose: '导入预设…',
  paste: '粘贴预设…',
  pasteTitle: '粘贴团队预设',
  pasteLabel: '预设的文本，或以 sluice:// 开头的链接',
  pasteNext: '查看会有哪些更改',
  leave: '退出…',
  leaveTitle: '退出此团队预设？',
  leaveText: (name) => `“${name}”将不再锁定任何内容。它带来的内容会保留，并且可以更改。重新导入即可恢复。`,
  leaveGatewayText: (name) =>
    `“${name}”将不再锁定任何内容。它带来的内容会保留，并且可以更改。要恢复，请离开该团队网关后重新加入。`,
  leaveConfirm: '退出',
  link: '该链接',
  pasted: '粘贴的文本',
  unreadable: (what) => `无法读取团队预设（${what}），未作任何更改。`,
  refusedLinks: {
    preset: '链接不包含可读取的团队预设，未作任何更改。',
    secret:
      '链接中含有密钥或密码。看到链接的人都会得到它，因此 Sluice 不从链接中接收。未作任何更改；请自行在 Sluice 中输入，如果链接已被转发，请更换它。',
    unknown: 'Sluice 不认识此链接，未作任何更改。',
  },
  changesTitle: '将会更改',
  nothing: '它设置的内容在此处均已生效。',
  warning: '仅在它确实来自你的团队时才应用：你的请求会发往此处列出的地址。',
  anewTitle: '以下凭据会被删除',
  anewText: '它们的服务商将指向别处，因此需要重新填入：',
  lockTitle: '以下内容将无法更改',
  lockText: '直到你在设置中退出该预设：',
  apply: '应用',
  applied: (name) => `已应用“${name}”。`,
  complete: '所需的凭据均已存在。',
  missing: '现在请填入你的凭据：',
  enter: '填入',
  enterNamed: (provider) => `填入 ${provider} 的凭据`,
  entered: '已填入',
  problemTitle: '无法导入',
  setBy: (organisation) => `由 ${organisation} 设定`,
  lockReason: '团队预设已锁定此项，无法在此处更改。',
};

export const presetActions: typeof english.presetActions = {
  'team-preset.apply': () => '应用了团队预设',
  'team-preset.leave': () => '退出了团队预设',
};

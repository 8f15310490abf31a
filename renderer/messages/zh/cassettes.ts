import type * as english from '../en/cassettes.ts';

export const cassettes: typeof english.cassettes = {
  title: '录制与回放',
  name: '录制文件',
  hint: '保存请求及其响应的文件夹，测试时无需网络，也不产生费用。',
  modes: {
    group: '与分组相同',
    off: '关闭',
    record: '录制',
    replay: '回放',
    'replay-or-record': '回放，并录制缺少的',
  },
  modeHints: {
    record: '由服务商回答。相同请求的旧录制会被替换。',
    replay: '由录制回答，不会请求服务商。',
    'replay-or-record': '由录制回答，缺少时才请求服务商。',
  },
  folder: '文件夹',
  folderHint: '其中的文件不含密钥、Cookie 和凭据。',
  folderWrong: '请输入绝对路径，例如 /home/me/project/cassettes。',
  holds: (_recordings, count) => `${count} 条录制`,
  replayed: (count) => `已回放 ${count} 次`,
  missed: (count) => `${count} 个请求没有录制`,
  recorded: (count) => `新录制 ${count} 条`,
  failed: (count) => `${count} 条未能写入`,
  unopened: '尚未使用',
  rewind: '从头开始',
  rewindHint: '相同的请求重新从第一条录制开始回放，并读取已更改的文件。',
  opened: {
    title: '录制文件',
    onlyShown: '没有启用任何功能。要用它来应答，请在密钥或分组的“测试”中选择“回放”和此文件夹。',
    recordings: '录制内容',
    empty: '没有录制内容。',
    unread: (file) => `${file} 无法显示`,
    more: (count) => `另有 ${count} 个`,
  },
  tags: { record: '录制中', replay: '回放中', 'replay-or-record': '回放中' },
  results: { replayed: '由录制回放', recorded: '已录制' },
};

export const cassetteActions: typeof english.cassetteActions = {
  'cassette.rewind': () => '将录制文件倒回了开头',
};

import type * as english from '../en/faults.ts';

export const faults: typeof english.faults = {
  on: '故障注入已开启。',
  running: (what, whom, end) => `${whom}：${what}，至 ${end}。`,
  profile: (name) => `方案 ${name}`,
  key: (name) => `密钥 ${name}`,
  group: (name) => `分组 ${name}`,
  why: '请求会有意失败，与服务商无关。',
  stop: '停止',
  stopOf: (whom) => `停止故障注入：${whom}`,
  part: '故障注入',
  lead: (whom) => `${whom} 的请求会遇到错误、延迟和中断的流，以便你了解程序如何应对。到时自动结束。`,
  profileLabel: '方案',
  profiles: {
    rough: 'rough：约一半的请求会遇到故障',
    'rate-limited': 'rate-limited：五分之二的请求得到 429',
    outage: 'outage：所有请求都失败',
    slow: 'slow：响应开始得晚，速度慢',
    'flaky-streams': 'flaky-streams：约一半的流会中断',
  },
  ownRules: '自定义规则',
  rulesLabel: '规则',
  rulesHint: '每行一条，例如 cut;after=5;share=0.1。“sluice faults list” 可列出全部故障。',
  minutes: '持续时间',
  spans: { 5: '5 分钟', 10: '10 分钟', 30: '30 分钟', 60: '1 小时' },
  start: '开始',
  ask: '允许请求指定故障',
  askHint: '通过发送请求头 x-sluice-fault，例如 late-head;ms=500, stall;after=40。',
  fact: '注入的故障',
  mark: (name) => `故障：${name}`,
  met: (name) => `有意注入的故障：${name}`,
  metText: '由开关或请求本身触发，不计入任何服务商的错误。',
};

export const testing: typeof english.testing = {
  title: '测试',
  open: '测试…',
  of: (name) => `${name} 的测试`,
  subject: '密钥或分组',
  kinds: { key: '密钥', group: '分组' },
  all: '所有已开启的',
  nothing: '没有开启任何测试',
  nothingNext: '选择一个密钥或分组，即可对其请求注入故障、录制或回放，或用内存中的响应回答相同的请求。',
  change: '修改',
  changeOf: (name) => `修改 ${name} 的测试`,
  isOn: (what) => `已开启：${what}`,
  faultsUntil: (what, end) => `故障注入（${what}）至 ${end}`,
  faultsAsked: '请求可以指定故障',
  cache: (size) => `缓存，最多 ${size}`,
};

export const faultActions: typeof english.faultActions = {
  'faults.start': (target) => `开始对 ${target} 注入故障`,
  'faults.stop': (target) => `停止对 ${target} 注入故障`,
};

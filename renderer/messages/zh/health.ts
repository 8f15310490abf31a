import type * as english from '../en/health.ts';

export const health: typeof english.health = {
  failures: {
    transient: '请求失败或无法连接',
    silent: '没有及时回答',
    'stream-broken': '流中途断开',
    'model-unavailable': '对方称没有此模型',
    'rate-limit': '已达到其速率限制',
    quota: '配额或余额已用尽',
    credential: '凭据被拒绝',
    'too-large': '请求对它来说太大',
    rejected: '它拒绝了请求',
    'client-gone': '客户端已离开',
  },
  until: (failure, moment) => `${failure}。在 ${moment} 之前，仅当没有其他可用目标时才会请求。`,
  isTried: (failure) => `${failure}。下一个请求会尝试它。`,
  isRefused: (failure) => `${failure}。在更换凭据，或修复后重置之前，不会再使用。`,
  recovers: (failure) => `${failure}，但现在又能回答了。`,
  firstByte: (duration) => `首字节 ${duration}`,
  failing: (share) => `近期 ${share} 的回答失败。`,
  withoutModel: '未指明模型的请求',
  reset: '重置',
  resetNamed: (name) => `重置 ${name}：忘记其失败`,
};

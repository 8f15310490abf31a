import { connectionFaultTextsZh } from '../../../server/contract/provider-views.ts';
import type * as english from '../en/health.ts';

export const health: typeof english.health = {
  failures: {
    silent: '未及时响应',
    'stream-broken': '流中途断开',
    'model-unavailable': '没有此模型',
    'rate-limit': '已达到其速率限制',
    quota: '配额或余额已用尽',
    credential: 'API 密钥被拒绝',
    'too-large': '请求过大',
    rejected: '请求被拒绝',
    lost: '创建请求的结果不明',
    shortage: '本机的连接或内存已用尽',
    'client-gone': '客户端已断开',
  },
  answersWith: (status) => `服务返回错误（${status}）`,
  badAnswers: '响应中断或已损坏',
  unreachable: (why) => `无法连接：${why}`,
  connectionFaults: connectionFaultTextsZh,
  until: (failure, moment) => `${failure}。将在 ${moment} 重试；在此之前仅当没有其他可用目标时才会使用。`,
  isTried: (failure) => `${failure}。下一个请求会再次尝试。`,
  isRefused: (failure) => `${failure}。已暂停：请更换凭据，或重试。`,
  recovers: (failure) => `${failure}，但现在已恢复。`,
  firstByte: (duration) => `首字节 ${duration}`,
  failing: (share) => `近期 ${share} 的请求失败。`,
  withoutModel: '未指明模型的请求',
  reset: '立即重试',
  resetNamed: (name) => `立即重试：${name}`,
};

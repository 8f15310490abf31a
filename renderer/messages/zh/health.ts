import { conditionTextsZh } from '../../../server/contract/provider-condition.ts';
import type * as english from '../en/health.ts';

export const health: typeof english.health = {
  ...conditionTextsZh,
  until: (moment) => `将在 ${moment} 重试；在此之前仅当没有其他可用目标时才会使用。`,
  isTried: (failures, count, moment) =>
    moment === null
      ? '下一个请求会再次尝试。'
      : `${failures > 1 ? `失败 ${count} 次，最近一次在` : '失败于'} ${moment}；下一个请求会再次尝试。`,
  isRefused: `请更换凭据；在此之前，${conditionTextsZh.refusedTrial}。`,
  stop: '。',
  firstByte: (duration) => `首字节 ${duration}`,
  failing: (share) => `近期 ${share} 的请求失败。`,
  more: (count) => `另有 ${count} 个`,
  reset: '立即重试',
  resetNamed: (name) => `立即重试：${name}`,
};

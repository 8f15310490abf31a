import type * as english from '../en/timed-capture.ts';

export const timedCapture: typeof english.timedCapture = {
  act: '捕获',
  mark: '正在捕获',
  hint: (minutes, days) => `在接下来的 ${minutes} 分钟内捕获请求头、响应头和正文，${days} 天后删除。`,
  all: '所有请求',
  next: '下一个请求',
  group: (name) => `分组 ${name}`,
  key: (name) => `密钥 ${name}`,
  oneOfMany: '某个分组或密钥…',
  choose: '捕获某个分组或密钥',
  whose: '谁的请求',
  running: (what, left) => `正在捕获：${what} · 剩余 ${left}`,
  one: '若只捕获某个特定请求，让其客户端发送请求头 x-sluice-capture: on。',
  stop: '停止',
  stopOf: (what) => `停止捕获：${what}`,
};

export const captureActions: typeof english.captureActions = {
  'capture.start': (target) => `开始捕获 ${target}`,
  'capture.stop': (target) => `停止捕获 ${target}`,
};

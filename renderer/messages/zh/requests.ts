import type * as english from '../en/requests.ts';

export const requests: typeof english.requests = {
  title: '请求',
  live: '实时',
  columns: {
    status: '状态',
    time: '时间',
    request: '请求',
    model: '模型',
    provider: '提供方',
    key: '密钥',
    duration: '耗时',
    tokens: '令牌数',
    cost: '费用',
  },
  outcomes: {
    running: '进行中',
    ok: '成功',
    error: '错误',
    'client-gone': '客户端离开',
    'stream-broken': '中断',
    interrupted: '被打断',
  },
  tokensInOut: (input, output) => `输入 ${input}，输出 ${output}`,
  emptyTitle: '还没有请求',
  emptyNext: '用您的密钥发送一个，它就会出现在这里：',
  keyPlaceholder: 'YOUR_KEY',
};

/** The titles of the sections of the screen, and the words by which the search finds them and their settings. */

import { createContext, useContext } from 'react';
import { type FieldPath, settingsParts } from '../../../../server/contract/settings-table.ts';
import type { Messages } from '../../../messages/en/en.ts';
import { type SectionId, sectionIds } from '../../../state/window/section-ids.ts';
import { fieldsOf } from '../fields/settings-field.ts';

export function sectionTitle(id: SectionId, { settings, team, prices }: Messages): string {
  switch (id) {
    case 'desktop':
      return settings.desktop.title;
    case 'sessions':
      return settings.sessions.title;
    case 'team':
      return team.part;
    case 'prices':
      return prices.title;
    default:
      return settings.parts[id];
  }
}

/** Words that people search for but no label contains, in both languages. */
const sectionWords: Record<SectionId, string> = {
  window: 'display theme interface 界面 显示 主题',
  desktop: 'autostart login tray notifications update version log 自动启动 开机 托盘 通知 更新 日志',
  address: 'listen bind server url 监听 服务器 地址',
  network: 'proxy tls ssl https certificate 代理 证书',
  access: 'cors firewall dns rebinding 跨域 防火墙',
  sessions: 'sign out log out logout cookie 退出 注销 登录 会话',
  serving: 'performance load limits 性能 负载 限制',
  records: 'log history retention storage privacy delete 日志 历史 保留 存储 隐私 删除',
  prices: 'cost price money dollars budget billing currency usd 费用 价格 成本 美元 预算 计费 单价',
  observability:
    'monitoring metrics prometheus grafana opentelemetry otlp tracing jaeger langfuse webhook 监控 指标 追踪 遥测',
  team: 'invite people users members 邀请 用户 成员 organisation company policy shared preset lock 组织 公司 策略 共享 预设 锁定',
  transfer: 'backup restore move json file 备份 恢复 迁移 文件',
  about: 'version data folder log file diagnostics support node path 版本 数据 文件夹 日志 诊断 支持 路径',
};

const fieldWords: Record<FieldPath, string> = {
  host: 'host bind listen lan wifi network interface 0.0.0.0 主机 监听 局域网 网卡',
  port: 'port listen 4810 端口 监听',
  noProxy: 'no_proxy exceptions 代理 例外 绕过',
  extraCaFiles: 'ca pem tls ssl root self-signed 根证书 自签名',
  systemCa: 'ca tls ssl root keychain 根证书 钥匙串',
  allowedHosts: 'host header dns domain 域名 主机',
  allowedOrigins: 'cors origin browser website 跨域 来源 浏览器 网站',
  demo: 'sample test fake 示例 测试',
  replyHeaders: 'x-sluice-provider x-sluice-attempts response debug 响应头 调试',
  keepAliveCommentMs: 'sse heartbeat ping timeout 心跳 超时',
  'limits.jsonBodyBytes': 'request size limit 413 请求 大小 限制',
  'limits.multipartBodyBytes': 'file size limit multipart 文件 大小 限制',
  'admission.running': 'concurrency parallel load 并发 并行',
  'admission.waiting': 'queue 429 队列',
  'admission.waitMs': 'queue timeout 429 队列 超时',
  'admission.bytes': 'ram memory 内存',
  'sharedCounts.hardBudgets': 'valkey redis shared replicas 503 副本 共享 预算',
  'ledger.retentionDays': 'history log age 历史 日志 天数',
  'ledger.retentionRows': 'history log size database 历史 日志 数据库',
  'capture.maxBytes': 'capture prompt content size 捕获 提示词 内容 大小',
  sessions: 'session conversation group agent turns 会话 对话 分组 智能体',
  'sessionBudget.notifyAtUsd': 'session budget cost runaway alert 会话 预算 费用 提醒',
  'sessionBudget.stopAtUsd': 'session budget cost runaway limit 会话 预算 费用 限制',
  'capture.totalBytes': 'capture size disk database total 捕获 大小 磁盘 数据库 总量',
  'capture.retentionDays': 'capture prompt content privacy 捕获 提示词 内容 隐私',
  'keptResponses.retentionHours': 'responses api store previous_response_id conversation 响应 存储 对话',
  'keptResponses.bytesPerGroup': 'responses api store size disk 响应 存储 大小 磁盘',
  'jobs.retentionDays': 'video batch file background owner 视频 批处理 文件 后台',
  metrics: 'prometheus grafana scrape monitoring 监控 抓取',
  metricsToken: 'prometheus grafana scrape secret password 监控 抓取 令牌',
  'telemetry.endpoint': 'otel otlp tracing collector jaeger langfuse 遥测 追踪 收集器',
  'telemetry.headers': 'otel otlp authorization secret langfuse 遥测 认证',
  'telemetry.conventions': 'otel otlp semconv gen_ai 遥测 约定',
  'telemetry.protocol': 'otel otlp json protobuf 遥测',
  'telemetry.traces': 'otel otlp traces spans jaeger langfuse 遥测 追踪',
  'telemetry.metrics': 'otel otlp metrics 遥测 指标',
  'telemetry.audit': 'otel otlp logs audit siem 遥测 日志 审计',
  webhooks: 'notify alert slack events 通知 告警 事件',
};

/** Uses the texts of the current language and the settings that apply to this installation. */
export function searchableSections(
  messages: Messages,
  status: Parameters<typeof fieldsOf>[1],
): (SearchableSection & { id: SectionId })[] {
  const { fields } = messages.settings;
  return sectionIds.map((id) => ({
    id,
    title: sectionTitle(id, messages),
    words: sectionWords[id],
    rows:
      id === 'window'
        ? [
            {
              name: 'language',
              label: messages.language,
              text: `${messages.language} language locale chinese english 语言 中文 英文`,
            },
            {
              name: 'appearance',
              label: messages.appearance,
              text: `${messages.appearance} dark light theme color 深色 浅色 主题 颜色`,
            },
          ]
        : fieldPathsOf(id, status).map((path) => ({
            name: path,
            label: fields[path].label,
            text: `${fields[path].label} ${fields[path].hint} ${fieldWords[path]}`,
          })),
  }));
}

function fieldPathsOf(id: SectionId, status: Parameters<typeof fieldsOf>[1]): FieldPath[] {
  const part = settingsParts.find((each) => each === id);
  return part ? fieldsOf(part, status).map(({ path }) => path) : [];
}

interface SearchableSection {
  id: string;
  title: string;
  /** Other words that people search for. */
  words: string;
  /** `text`: the label and everything else by which it is found. */
  rows: { name: string; label: string; text: string }[];
}

interface FoundSettings {
  /** Nothing was typed, so everything is found. */
  isAll: boolean;
  hasSection(id: string): boolean;
  hasRow(section: string, row: string): boolean;
}

/**
 * Finds a row if each word occurs in its text or in the title of its section. A section without such rows is found as a
 * whole if each word occurs in its title or its other words.
 */
export function searchSettings(sections: readonly SearchableSection[], query: string): FoundSettings {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return { isAll: true, hasSection: () => true, hasRow: () => true };
  const isIn = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const found = new Map<string, Set<string>>();
  for (const { id, title, words: others, rows } of sections) {
    const matching = rows.filter(({ text }) => isIn(`${title} ${text}`));
    if (matching.length === 0 && !isIn(`${title} ${others}`)) continue;
    found.set(id, new Set((matching.length > 0 ? matching : rows).map(({ name }) => name)));
  }
  return {
    isAll: false,
    hasSection: (id) => found.has(id),
    hasRow: (section, row) => found.get(section)?.has(row) ?? false,
  };
}

/** The matches of the search box. */
export const FoundSettingsContext = createContext<FoundSettings>(searchSettings([], ''));

export function useFoundSettings(): FoundSettings {
  return useContext(FoundSettingsContext);
}

/** The names of the places, in the window and in the desktop's menu. */
import type { PlaceId } from './places.ts';

export const placeTexts: Readonly<Record<PlaceId, string>> = {
  home: 'Home',
  traffic: 'Traffic',
  playground: 'Playground',
  models: 'Models',
  access: 'Access',
  connect: 'Connect',
  settings: 'Settings',
};

export const placeTextsZh: Readonly<Record<PlaceId, string>> = {
  home: '首页',
  traffic: '流量',
  playground: '演练场',
  models: '模型',
  access: '访问控制',
  connect: '接入',
  settings: '设置',
};

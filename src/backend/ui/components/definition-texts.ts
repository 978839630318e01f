import { countOf, numbers, formatMs } from './format.ts'

export const whoTexts = {
  anyone: 'Anyone',
  anyToken: 'Any valid token',
  tokens: 'Tokens with',
  or: 'or',
  holders: (users: number, clients: number) =>
    countOf(users, 'user') + (clients === 0 ? '' : `, ${countOf(clients, 'client')}`),
  nobody: 'no users',
} as const

export const buildTexts = {
  inheritedFrom: 'Inherited from',
  withoutStep: 'without',
  newTable: 'New table',
  none: 'none',
  noData: 'no data',
  search: 'Search',
  source: 'Defined in',
  usedBy: 'Used by',
  unused: 'not used',
  onlyCode: 'no action class',
  more: (amount: number) => `and ${numbers.format(amount)} more`,
  noRelease: 'No API yet',
  deployWith: 'Run',
  noReleaseText: 'Deploy a project from its folder. Its routes, schemas and events appear here.',
  ms: formatMs,
  duration: (ms: number) => (ms < 1000 ? `${ms} ms` : seconds(ms)),
  number: (value: number) => numbers.format(value),
} as const

function seconds(ms: number): string {
  if (ms % 3_600_000 === 0) return countOf(ms / 3_600_000, 'hour')
  return ms % 60_000 === 0 && ms > 60_000 ? countOf(ms / 60_000, 'minute') : `${numbers.format(ms / 1000)} s`
}

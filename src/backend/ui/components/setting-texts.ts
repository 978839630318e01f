import { countOf, numbers } from './format.ts'

export const settingsTexts = {
  text: 'From config, rate and plugins in waypost.yml. Deploy the project to change them.',
  config: 'Config',
  search: 'Search settings',
  found: (count: number) => (count === 0 ? 'No setting matches.' : countOf(count, 'setting')),
  default: 'default',
  set: 'waypost.yml',
  wasDefault: (value: string) => `default ${value}`,
  rates: 'Rates',
  rate: 'Rate',
  limit: 'Limit',
  per: (limit: number, ms: number, by: string) =>
    `${countOf(limit, 'request')} in ${seconds(ms)} for each ${by === 'address' ? 'address' : 'caller'}`,
  counted: 'Counted',
  eachServer: 'by each server',
  allServers: (connection: string) => `for all servers, in ${connection}`,
  noRates: 'No rates are declared.',
  plugins: 'Plugins',
  plugin: 'Plugin',
  version: 'Version',
  place: 'Place',
  places: {
    release: 'part of the release',
    server: 'installed on each server',
    'built-in': 'ships with Waypost',
  },
  provides: 'Provides',
  connections: (names: string) => `connections: ${names}`,
  actions: (names: string) => `actions: ${names}`,
  routes: 'routes',
} as const

function seconds(ms: number): string {
  if (ms % 3_600_000 === 0) return countOf(ms / 3_600_000, 'hour')
  return ms % 60_000 === 0 && ms > 60_000 ? countOf(ms / 60_000, 'minute') : `${numbers.format(ms / 1000)} s`
}

import { parseSetting, type SettingProblem } from './parse-setting.ts'
import { nearest } from './nearest.ts'
import { settingsTable, type Settings } from './settings-table.ts'

/** The settings that apply unless the project or the backend sets others. */
export const defaultSettings: Settings = makeDefaults()

export interface ParsedSettings {
  /** The given settings over the defaults. An invalid setting has its default. */
  readonly settings: Settings
  readonly problems: readonly SettingProblem[]
}

/**
 * Parses the settings under `config:` after `${env.NAME}` was resolved. Variables are always text, so `"64"`, `"true"`
 * and comma-separated lists are accepted too.
 */
export function parseSettings(raw: Readonly<Record<string, unknown>>): ParsedSettings {
  const settings: Record<string, unknown> = { ...defaultSettings }
  const problems: SettingProblem[] = []
  for (const [name, value] of Object.entries(raw)) {
    if (!Object.hasOwn(settingsTable, name)) {
      problems.push(unknownSetting(name))
      continue
    }
    const parsed = parseSetting(name, settingsTable[name as keyof Settings], value)
    if ('problems' in parsed) problems.push(...parsed.problems)
    else settings[name] = parsed.value
  }
  const complete = settings as unknown as Settings
  return { settings: complete, problems: [...problems, ...checkLease(complete, raw)] }
}

function unknownSetting(name: string): SettingProblem {
  const near = nearest(name, Object.keys(settingsTable))
  return {
    name,
    path: [],
    isUnknown: true,
    message: `Unknown setting "${name}"`,
    hint: near === undefined ? `Settings: ${Object.keys(settingsTable).join(', ')}` : `Did you mean "${near}"?`,
  }
}

/**
 * Checks that the lease exceeds the timeout by 5 s. Workers post only if it does, so nothing would ever be sent with a
 * shorter lease.
 */
function checkLease(settings: Settings, raw: Readonly<Record<string, unknown>>): SettingProblem[] {
  const { delivery_lease: lease, delivery_timeout: timeout } = settings
  if (lease >= timeout + 5000) return []
  return [
    {
      name: Object.hasOwn(raw, 'delivery_lease') ? 'delivery_lease' : 'delivery_timeout',
      path: [],
      message: '"delivery_lease" must be at least 5 s longer than "delivery_timeout"',
      hint: `Set delivery_lease to ${Math.ceil(timeout / 1000) + 5}s or more`,
    },
  ]
}

function makeDefaults(): Settings {
  const defaults: Record<string, unknown> = {}
  for (const [name, row] of Object.entries(settingsTable)) {
    const parsed = parseSetting(name, row, row.default)
    if ('problems' in parsed) throw new Error(parsed.problems[0]!.message)
    defaults[name] = parsed.value
  }
  return Object.freeze(defaults) as unknown as Settings
}

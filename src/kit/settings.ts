import { parseSetting, type SettingProblem } from './parse-setting.ts'
import { nearest } from './nearest.ts'
import { settingsTable, type Settings } from './settings-table.ts'

/** Settings of earlier versions that have no effect. Stored releases may contain them. */
export const removedSettings: readonly string[] = ['delivery_lease']

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
    if (removedSettings.includes(name)) continue
    if (!Object.hasOwn(settingsTable, name)) {
      problems.push(unknownSetting(name))
      continue
    }
    const parsed = parseSetting(name, settingsTable[name as keyof Settings], value)
    if ('problems' in parsed) problems.push(...parsed.problems)
    else settings[name] = parsed.value
  }
  return { settings: settings as unknown as Settings, problems }
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

function makeDefaults(): Settings {
  const defaults: Record<string, unknown> = {}
  for (const [name, row] of Object.entries(settingsTable)) {
    const parsed = parseSetting(name, row, row.default)
    if ('problems' in parsed) throw new Error(parsed.problems[0]!.message)
    defaults[name] = parsed.value
  }
  return Object.freeze(defaults) as unknown as Settings
}

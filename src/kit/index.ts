// kit: the few small things that every room needs: errors, diagnostics, clock, ids, durations, the environment.
// May import nothing of Waypost. Keep it small: a thing that only two rooms need lives in the lower of the two.
export { systemClock, type Clock } from './clock.ts'
export { hasErrors, type Diagnostic, type IncludeSite, type Position, type Range } from './diagnostic.ts'
export { parseDuration, parseSize } from './duration.ts'
export { readEnvironment, variable, type Variables } from './environment.ts'
export { defineErrors, fill, isWaypostError, messageOf, WaypostError, type ErrorKind, type ErrorRow } from './errors.ts'
export { formatDiagnostics, type FormatOptions } from './format-diagnostics.ts'
export { makeId, makeSecret, makeSortedId, makeUuid, sha256 } from './ids.ts'
export { nearest } from './nearest.ts'
export { type SettingProblem } from './parse-setting.ts'
export { hasReferences, parseReferences, resolveReferences, type Reference } from './references.ts'
export { defaultSettings, parseSettings, type ParsedSettings } from './settings.ts'
export { settingsTable, type SettingName, type SettingRow, type Settings } from './settings-table.ts'

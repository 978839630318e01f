// kit: what every room needs: errors, diagnostics, clock, ids, durations, text, the environment.
// May not import any other room. Keep it small: code that only two rooms need belongs in the lower of the two.
export { deriveAccent, type AccentColours, type AccentSchemes } from './accent.ts'
export { isActionLogger, markActionLogger } from './action-logger.ts'
export { isAddressRange, isPrivateAddress, networkOf, parseAddress } from './address.ts'
export { bodylessStatuses, errorRanges, findResponseKey } from './http.ts'
export { systemClock, type Clock } from './time.ts'
export { parseDigits, parseExact } from './exact-json.ts'
export { isConflict, isContention, parseConflict, type Conflict } from './conflict.ts'
export {
  describeMismatch,
  describeType,
  isOfType,
  parseVariable,
  variableTypes,
  type DeclaredVariable,
  type VariableType,
  type VariableValue,
} from './declared-variable.ts'
export { formType, itemTypes, multipartType } from './media-types.ts'
export { hasErrors, type Diagnostic, type IncludeSite, type Position, type Range } from './diagnostic.ts'
export { formatDuration, formatSize, formatTime, parseDuration, parseSize, suggestQuantity } from './time.ts'
export {
  clearBareEnvironment,
  exportVariables,
  findHome,
  findLocalSources,
  listEnvFiles,
  locateVariables,
  makeBareEnvironment,
  parseVariables,
  readEnvFile,
  readEnvironment,
  readSources,
  refreshEnvironment,
  variable,
  type LocalSource,
  type Variables,
} from './environment.ts'
export {
  defineErrors,
  fillPlaceholders,
  isWaypostError,
  messageOf,
  WaypostError,
  type ErrorKind,
  type ErrorRow,
} from './errors.ts'
export { ErrorDescription, safeMessageOf } from './describe-error.ts'
export { watchOutage, type Outage } from './outage.ts'
export { decodeText, findEncodingProblem, readJsonFile, type EncodingProblem } from './encoding.ts'
export { findJsonExcess } from './find-json-excess.ts'
export { findForbiddenKey } from './forbidden-keys.ts'
export { findInfiniteNumber, hasInfiniteNumber } from './infinite-numbers.ts'
export { useExactFormats } from './exact-formats.ts'
export { isMultipleOf, makeExactKeywords, useExactKeywords } from './exact-keywords.ts'
export { formatAnnotations } from './format-diagnostics.ts'
export { formatDiagnostics } from './format-diagnostics.ts'
export { hideSecretsInUrl, hideTokens } from './hide-secrets.ts'
export { isSameValue } from './same-value.ts'
export { isStorable, joinWords, shortId, toPrintable, toStorable, wrapWords } from './text.ts'
export { onClose, setCloseRegister } from './on-close.ts'
export { withDeadline, withDeadlineAfterAbort } from './deadline.ts'
export { latencyBoundsMs } from './latency-bounds.ts'
export { takeBreaks } from './take-breaks.ts'
export {
  etagOf,
  isUuid,
  makeId,
  makeSecret,
  makeNextId,
  makeSortedId,
  makeUuid,
  sha256,
  sortedIdPrefix,
} from './ids.ts'
export { hasEnded, identifyProcess, isRunning, type ProcessIdentity } from './process.ts'
export { compilePattern, type LinearPattern } from './linear-pattern.ts'
export {
  encodePathValue,
  fillPath,
  findRestParameter,
  isPlainRest,
  listPathParameters,
  shapeOfPath,
} from './path-parameters.ts'
export { findReservedPath, isJsonType } from './http.ts'
export { nearest } from './nearest.ts'
export { findPackageManager, spellCommands, type PackageManager } from './package-manager.ts'
export { isReservedName } from './reserved-names.ts'
export { type SettingProblem } from './parse-setting.ts'
export {
  canBeDefault,
  fillReferences,
  hasReferences,
  parseReferences,
  resolveReferences,
} from './variable-references.ts'
export { isTimezone, parseCronjobTimeout, parseSchedule, type Schedule } from './schedule.ts'
export { defaultSettings, parseSettings, removedSettings } from './settings.ts'
export { parseSince, type Since } from './time.ts'
export { settingsTable, type SettingRow, type Settings } from './settings-table.ts'
export {
  installation,
  isProbeAgent,
  isSourceCheckout,
  probeAgent,
  publicModules,
  urlOfModule,
  userAgent,
  version,
} from './installation.ts'

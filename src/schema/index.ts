// schema: JSON Schema as data: pointers, references, the keyword table, dialects, comparison of two.
// May import kit and contract.
export { escapeStep, findByPointer, makePointer, parsePointer, unescapeStep } from './references.ts'
export { schemaKeywords, type SchemaKeyword } from './keywords.ts'
export { placeRoot } from './placed.ts'
export {
  hasAccess,
  makeAccessRemover,
  mentionsAccess,
  withoutAccess,
  withoutAccessIn,
  withoutAccessInRequired,
  type AccessChange,
} from './access.ts'
export { compareSchemas } from './compare/compare-schemas.ts'
export { compareVersions, type SchemaDetail, type VersionComparison } from './compare/compare-versions.ts'
export {
  holdsAlways,
  makeDefaults,
  reachesAccess,
  reachesDefault,
  reachesRequiredDefault,
  requireWithoutDefault,
  requireWithoutDefaults,
} from './defaults.ts'
export { isFilePart, isFileSchema, listFileParts, sumFileSizes, withoutFiles, type FilePart } from './files.ts'
export { findOpenAccess, type AccessWarning } from './find-open-access.ts'
export { generateSample } from './generate-sample.ts'
export { findContradiction, type Contradiction } from './find-contradiction.ts'
export { limitsOf } from './limits.ts'
export { exactPrefix, toDraft07, toDraft2020 } from './dialects.ts'
export { mapSubSchemas } from './placed.ts'
export { findRecursiveAlternatives, hasRecursiveAlternatives } from './recursive-alternatives.ts'
export {
  followReference,
  isSchema,
  parseReference,
  type NamedSchemas,
  type Schema,
  type SchemaRoot,
  type Target,
} from './references.ts'

import { contradictionCases } from './contradiction-cases.ts'
import { classesCases } from './classes-cases.ts'
import { dispatchCases } from './dispatch-cases.ts'
import { configCases } from './config-cases.ts'
import { contentCases } from './content-cases.ts'
import { includeCases } from './include-cases.ts'
import { namesCases } from './names-cases.ts'
import { pathCases } from './path-cases.ts'
import { referenceCases } from './reference-cases.ts'
import { schemaCases } from './schema-cases.ts'
import { structureCases } from './structure-cases.ts'
import { valuesCases } from './values-cases.ts'
import { variablesCases } from './variables-cases.ts'
import { yamlCases } from './yaml-cases.ts'
import type { Case } from './case.ts'

/** Invalid projects, by kind of mistake. */
export const groups: Readonly<Record<string, readonly Case[]>> = {
  'invalid YAML': yamlCases,
  includes: includeCases,
  'keys and values': structureCases,
  'media types': contentCases,
  paths: pathCases,
  names: namesCases,
  'JSON Schemas': schemaCases,
  'references of JSON Schemas': referenceCases,
  'schemas that no value matches': contradictionCases,
  'dispatched responses': dispatchCases,
  variables: variablesCases,
  'settings and cronjobs': configCases,
  'plugin classes': classesCases,
  'values of variables': valuesCases,
}

export const allCases: readonly Case[] = Object.values(groups).flat()

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { classesCases } from './cases/classes-cases.ts'
import { configCases } from './cases/config-cases.ts'
import { includeCases } from './cases/include-cases.ts'
import { namesCases } from './cases/names-cases.ts'
import { pathCases } from './cases/path-cases.ts'
import { schemaCases } from './cases/schema-cases.ts'
import { structureCases } from './cases/structure-cases.ts'
import { valuesCases } from './cases/values-cases.ts'
import { variablesCases } from './cases/variables-cases.ts'
import { yamlCases } from './cases/yaml-cases.ts'
import { loadFiles, showProblem } from './project.ts'

const groups = {
  'what is no YAML': yamlCases,
  includes: includeCases,
  'keys and values': structureCases,
  paths: pathCases,
  names: namesCases,
  'JSON Schemas': schemaCases,
  variables: variablesCases,
  'settings and cronjobs': configCases,
  'plugin classes': classesCases,
  'values of variables': valuesCases,
}

for (const [group, cases] of Object.entries(groups)) {
  suite(`says where and how to mend: ${group}`, () => {
    for (const { name, files, options, problems } of cases) {
      test(name, async () => {
        const { definition, diagnostics } = await loadFiles({ 'src/a.ts': '', ...files }, options)
        assert.deepEqual(diagnostics.map(showProblem), problems)
        assert.equal(
          definition === undefined,
          diagnostics.some(({ severity }) => severity === 'error'),
        )
      })
    }
  })
}

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { groups } from './cases/all-cases.ts'
import { loadFiles, showProblem } from './project.ts'

for (const [group, cases] of Object.entries(groups)) {
  suite(`shows the location and how to fix it: ${group}`, () => {
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

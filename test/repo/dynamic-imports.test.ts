import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'

const checkout = path.join(import.meta.dirname, '../..')

/** Not bundled, so Node finds their named exports. */
const external = /^(esbuild|@opentelemetry\/.*)$/

test('a package that is a CommonJS module is imported dynamically for its default export only', () => {
  const named: string[] = []
  for (const file of globSync('{src,bin/cli,commands,plugins/*/src}/**/*.ts', { cwd: checkout })) {
    if (file.startsWith('src/backend/ui/')) continue
    const text = readFileSync(path.join(checkout, file), 'utf8')
    for (const [, name = ''] of text.matchAll(/(?<!: ['"])\bimport\('([a-z@][^'.]*)'\)/g)) {
      if (name.startsWith('node:') || /^(waypost|@waypost)\b/.test(name) || external.test(name)) continue
      const manifest = findPackageJSON(name, import.meta.url)!
      const isModule = JSON.parse(readFileSync(manifest, 'utf8')).type === 'module'
      // The build wraps a CommonJS module, whose named exports it does not know.
      if (!isModule && !/\bdefault: \w+|\.default\b/.test(text)) named.push(`${file}: ${name}`)
    }
  }
  assert.deepEqual(named, [])
})

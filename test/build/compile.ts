import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { makeProject } from './project.ts'

const repository = fileURLToPath(new URL('../../', import.meta.url))

const tsconfig = JSON.stringify({
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    typeRoots: [`${repository}node_modules/@types`],
    strict: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    paths: { waypost: [`${repository}src/index.ts`] },
  },
  include: ['src', 'migrations', '.waypost/types.ts'],
})

/** Returns the real compiler's errors for a project, one per line. */
export async function compile(files: Readonly<Record<string, string>>): Promise<string[]> {
  // Not `types.d.ts`, because the compiler would skip it like declarations of packages.
  const { '.waypost/types.d.ts': types = '', ...rest } = files
  await using project = await makeProject({
    'tsconfig.json': tsconfig,
    'package.json': '{"type":"module"}',
    '.waypost/types.ts': types,
    ...rest,
  })
  const compiler = fileURLToPath(import.meta.resolve('typescript/package.json')).replace('package.json', 'bin/tsc')
  const output = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [compiler, '-p', project.root, '--pretty', 'false'],
      { cwd: project.root },
      (_, stdout, stderr) => resolve(stdout + stderr),
    )
  })
  return output.split('\n').filter((line) => /^\S/.test(line))
}

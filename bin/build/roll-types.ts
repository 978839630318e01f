// Rolls the types of the published faces up into few files that need no other package: those of bundled packages are part
// of them.
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const faces = ['src/index', 'src/sql', 'src/testing/index', 'bin/cli/plugin-command']
const rolledUp = /^(@oclif\/core|kysely)\b/
/** Only plugins that mount routes need its types, and install it themselves. */
const optional = /^(import .+ from "fastify";|declare module 'fastify' \{)$/gm

/** Replaces the declarations of compiled modules in a folder by those of the published faces. */
export async function rollTypes(fresh: string): Promise<void> {
  const rolled = `${fresh}.types`
  const bundle = await rolldown({
    cwd: fresh,
    input: Object.fromEntries(faces.map((face) => [face, `./${face}.d.ts`])),
    external: (name) => !name.startsWith('.') && !path.isAbsolute(name) && !rolledUp.test(name),
    treeshake: { moduleSideEffects: 'no-external' },
    plugins: [dts({ dtsInput: true, generator: 'oxc', tsconfig: false, sideEffects: false })],
  })
  await bundle.write({
    dir: rolled,
    entryFileNames: '[name].d.ts',
    chunkFileNames: 'types/[name].d.ts',
    minifyInternalExports: false, // projects add to the interfaces, by their names
  })
  for (const file of globSync('**/*.d.ts', { cwd: fresh })) rmSync(path.join(fresh, file))
  for (const name of globSync('**/*.d.ts', { cwd: rolled })) {
    const file = path.join(rolled, name)
    writeFileSync(file, readFileSync(file, 'utf8').replace(optional, '// @ts-ignore: optional\n$1'))
  }
  cpSync(rolled, fresh, { recursive: true })
  rmSync(rolled, { recursive: true })
}

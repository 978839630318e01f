// The names of functions and classes in a bundle. esbuild sets all of them when they are made, also those of functions that
// are made for each request: reading and setting names was a third of the processor time of a run of a listener.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const definition = '__name=(target,value)=>__defProp(target,"name",{value,configurable:!0})'
/** The names that are set are the first argument, so that every other place keeps its column in the source map. */
const instead =
  '__name=(target,value)=>typeof target!="string"?target:value.name===target?value:__defProp(value,"name",{value:target,configurable:!0})'
/** A name that is set for a class, in its body, or for a function by its identifier. */
const setName = /__name\((this|[\p{ID_Start}$_][\p{ID_Continue}$]*),("[^"\\]*")\)/gu

/** Changes files that esbuild has bundled with `keepNames`: they set names of classes, and names that bundling has changed. */
export function keepChangedNames(folder: string): void {
  let found = 0
  for (const name of globSync('**/*.js', { cwd: folder })) {
    const file = path.join(folder, name)
    const text = readFileSync(file, 'utf8')
    if (text.includes(definition)) found++
    const swapped = text
      .replace(definition, instead)
      .replaceAll(setName, (all, target: string, value: string) =>
        value === `"${target}"` ? all : `__name(${value},${target})`,
      )
    if (swapped !== text) writeFileSync(file, swapped)
  }
  if (found === 0) throw new Error('esbuild sets names in another way')
}

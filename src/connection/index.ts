// connection: opens the connections of a release, keeps them across generations and closes unused ones.
// May import kit, contract and plugin.
export { errors as connectionErrors } from './errors.ts'
export {
  makeConnectionRegistry,
  type ConnectionRegistry,
  type ConnectionSet,
  type ConnectionUse,
  type RegistryOptions,
} from './registry.ts'

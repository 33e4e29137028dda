// JSON Schemas from the schemas of libraries (https://standardschema.dev).

/** Returns the body with every `schema` in it, and in its formats, as JSON Schema. */
export function withJsonSchemas(body) {
  const out = { ...body };
  if (out.schema !== undefined && out.schema !== null) out.schema = jsonSchema(out.schema);
  if (Array.isArray(out.formats)) out.formats = out.formats.map((format) => (format?.schema ? withJsonSchemas(format) : format));
  for (const name of ['options', 'scrapeOptions']) if (out[name]) out[name] = withJsonSchemas(out[name]);
  return out;
}

function jsonSchema(schema) {
  const target = 'draft-2020-12';
  const convert = schema['~standard']?.jsonSchema?.input ?? schema.toJSONSchema ?? schema.toJsonSchema;
  if (typeof convert === 'function') return convert.call(schema, { target });
  if (schema._def ?? schema['~standard']?.vendor === 'valibot') return convertDefinition(schema);
  if (schema['~standard']) throw new TypeError(`schema: ${schema['~standard'].vendor} schemas have no JSON Schema; convert it first`);
  return schema;
}

const isOptional = (schema) => /optional|nullish|default/i.test(kindOf(schema));
// Zod 3: `ZodString`; Zod 4 and Valibot: `string`.
const kindOf = (schema) => (schema._def?.typeName?.slice(3) ?? schema._def?.type ?? schema.type ?? '').toLowerCase();

/** Converts a schema of Zod or Valibot that cannot convert itself. */
function convertDefinition(schema) {
  const definition = schema._def ?? schema;
  const description = schema.description ?? definition.description;
  return { ...shapeOf(kindOf(schema), definition), ...(description && { description }) };
}

function shapeOf(kind, definition) {
  const inner = () => convertDefinition(definition.innerType ?? definition.wrapped ?? definition.schema ?? definition.in);
  const values = Object.values(definition.values ?? definition.entries ?? definition.options ?? {});
  switch (kind) {
    case 'string':
    case 'boolean':
    case 'null':
      return { type: kind };
    case 'number':
      return { type: definition.checks?.some(({ kind }) => kind === 'int') || definition.pipe?.some(({ type }) => type === 'integer') ? 'integer' : 'number' };
    case 'date':
      return { type: 'string', format: 'date-time' };
    case 'literal':
      return { const: definition.value ?? definition.literal ?? values[0] };
    case 'enum':
    case 'nativeenum':
    case 'picklist':
      return { enum: definition.options ?? values };
    case 'array':
      return { type: 'array', items: convertDefinition(definition.element ?? definition.item ?? definition.type) };
    case 'record':
      return { type: 'object', additionalProperties: convertDefinition(definition.valueType ?? definition.value) };
    case 'object':
    case 'loose_object':
    case 'strict_object': {
      const shape = typeof definition.shape === 'function' ? definition.shape() : (definition.shape ?? definition.entries);
      const names = Object.keys(shape);
      return {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, convertDefinition(shape[name])])),
        required: names.filter((name) => !isOptional(shape[name])),
      };
    }
    case 'union':
    case 'discriminatedunion':
    case 'variant':
      return { anyOf: [...definition.options.values()].map(convertDefinition) };
    case 'nullable':
    case 'nullish':
      return { anyOf: [inner(), { type: 'null' }] };
    case 'optional':
    case 'default':
    case 'readonly':
    case 'catch':
    case 'effects':
    case 'pipe':
      return inner();
    case 'any':
    case 'unknown':
      return {};
    default:
      throw new TypeError(`schema: a schema of kind \`${kind}\` cannot be converted to JSON Schema; convert it first`);
  }
}

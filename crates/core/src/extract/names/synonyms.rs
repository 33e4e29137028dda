//! Common property names and the schema.org properties that they refer to.

/// Synonymous names, as keys of one or more words, and their schema.org paths, best first. A dot separates a nested
/// property.
#[rustfmt::skip]
pub(super) const SYNONYMS: &[(&[&str], &[&str])] = &[
    (&["name", "title", "headline", "heading", "label"], &["name", "headline", "title", "alternateName"]),
    (
        &[
            "description", "summary", "about", "overview", "detail", "abstract", "excerpt",
        ],
        &["description", "abstract", "disambiguatingDescription"],
    ),
    (&["content", "body", "text", "article body"], &["articleBody", "text", "reviewBody"]),
    (
        &[
            "price", "cost", "amount", "current price", "sale price", "ticket price", "unit price",
        ],
        &[
            "offers.price",
            "offers.lowPrice",
            "price",
            "offers.priceSpecification.price",
            "offers.offers.price",
            "lowPrice",
            "priceSpecification.price",
            "product:price:amount",
            "og:price:amount",
        ],
    ),
    (&["low price", "min price", "minimum price"], &["offers.lowPrice", "lowPrice", "offers.price"]),
    (&["high price", "max price", "maximum price"], &["offers.highPrice", "highPrice"]),
    (
        &["currency", "price currency", "currency code"],
        &[
            "offers.priceCurrency",
            "priceCurrency",
            "offers.priceSpecification.priceCurrency",
            "offers.offers.priceCurrency",
            "currency",
            "product:price:currency",
            "og:price:currency",
        ],
    ),
    (
        &[
            "availability", "in stock", "available", "stock", "is available", "is in stock", "stock status",
        ],
        &[
            "offers.availability", "availability", "offers.offers.availability", "product:availability",
        ],
    ),
    (&["condition", "item condition"], &["offers.itemCondition", "itemCondition"]),
    (&["seller", "vendor", "shop", "store"], &["offers.seller.name", "seller.name"]),
    (
        &["brand", "manufacturer", "maker", "brand name"],
        &[
            "brand.name", "brand", "manufacturer.name", "manufacturer", "product:brand",
        ],
    ),
    (&["sku", "article number", "item number", "product id", "product code"], &["sku", "productID", "mpn"]),
    (&["gtin", "ean", "upc", "barcode", "isbn"], &["gtin13", "gtin", "gtin12", "gtin8", "gtin14", "isbn"]),
    (&["mpn", "part number", "model number"], &["mpn", "model.name", "model"]),
    (&["colour", "color"], &["color"]),
    (
        &[
            "rating", "star", "score", "average rating", "rating value", "review score",
        ],
        &[
            "aggregateRating.ratingValue", "ratingValue", "reviewRating.ratingValue",
            "starRating.ratingValue",
        ],
    ),
    (
        &[
            "review count", "rating count", "number of review", "number of rating", "vote", "total review",
        ],
        &[
            "aggregateRating.reviewCount", "aggregateRating.ratingCount", "reviewCount", "ratingCount",
        ],
    ),
    (&["review"], &["review", "reviews"]),
    (&["best rating", "max rating"], &["aggregateRating.bestRating", "reviewRating.bestRating"]),
    (
        &[
            "image", "picture", "photo", "image url", "thumbnail", "cover", "main image", "cover image",
        ],
        &[
            "image.url", "image", "image.contentUrl", "thumbnailUrl", "photo", "og:image",
        ],
    ),
    (&["logo"], &["logo.url", "logo", "publisher.logo.url"]),
    (
        &[
            "url", "link", "website", "web site", "page", "source", "address url", "href", "homepage",
        ],
        &["url", "@id", "mainEntityOfPage", "sameAs", "og:url"],
    ),
    (
        &[
            "author", "writer", "byline", "by", "creator", "author name", "reviewer", "written by",
        ],
        &[
            "author.name", "author", "creator.name", "creator", "article:author", "parsely-author",
        ],
    ),
    (&["publisher", "site", "site name", "publication"], &["publisher.name", "publisher", "og:site_name"]),
    (
        &[
            "published", "publish date", "publication date", "date published", "published date", "date",
            "published at", "published on", "posted", "post date", "date posted", "upload date",
            "release date",
        ],
        &[
            "datePublished", "dateCreated", "uploadDate", "datePosted", "releaseDate", "startDate",
            "article:published_time", "date",
        ],
    ),
    (
        &[
            "modified", "updated", "date modified", "last modified", "updated at", "modified date",
            "last updated",
        ],
        &["dateModified", "article:modified_time", "og:updated_time"],
    ),
    (&["keyword", "tag", "topic"], &["keywords", "article:tag", "about.name", "news_keywords"]),
    (
        &["category", "section", "genre"],
        &[
            "category", "articleSection", "genre", "recipeCategory", "article:section",
        ],
    ),
    (&["language", "lang"], &["inLanguage", "og:locale"]),
    (&["word count"], &["wordCount"]),
    (&["comment count", "number of comment"], &["commentCount"]),
    (&["ingredient", "recipe ingredient"], &["recipeIngredient", "ingredients"]),
    (
        &[
            "instruction", "step", "direction", "method", "recipe instruction", "preparation",
        ],
        &["recipeInstructions", "step", "steps"],
    ),
    (&["prep time", "preparation time", "prep minute", "prep"], &["prepTime"]),
    (&["cook time", "cooking time", "cook minute", "cook"], &["cookTime"]),
    (
        &[
            "total time", "total minute", "duration", "time", "length", "runtime",
        ],
        &["totalTime", "duration", "timeRequired"],
    ),
    (&["serving", "yield", "portion", "serve", "recipe yield"], &["recipeYield", "yield"]),
    (&["calory", "calorie", "kcal"], &["nutrition.calories", "calories"]),
    (&["protein"], &["nutrition.proteinContent"]),
    (&["fat"], &["nutrition.fatContent"]),
    (&["carb", "carbohydrate"], &["nutrition.carbohydrateContent"]),
    (&["sugar"], &["nutrition.sugarContent"]),
    (&["cuisine"], &["recipeCuisine", "servesCuisine"]),
    (&["diet"], &["suitableForDiet"]),
    (
        &[
            "start", "start date", "start time", "begin", "when", "start at", "event date",
        ],
        &["startDate", "doorTime"],
    ),
    (&["end", "end date", "end time", "end at"], &["endDate"]),
    (
        &[
            "venue", "location", "place", "where", "venue name", "location name",
        ],
        &[
            "location.name", "location.address", "jobLocation.address", "location", "jobLocation.name",
        ],
    ),
    (
        &["address", "street address", "postal address"],
        &[
            "address.streetAddress",
            "address",
            "location.address.streetAddress",
            "location.address",
        ],
    ),
    (
        &["street"],
        &[
            "address.streetAddress",
            "location.address.streetAddress",
            "jobLocation.address.streetAddress",
        ],
    ),
    (
        &["city", "town", "locality"],
        &[
            "address.addressLocality",
            "location.address.addressLocality",
            "jobLocation.address.addressLocality",
        ],
    ),
    (
        &["region", "state", "province"],
        &[
            "address.addressRegion",
            "location.address.addressRegion",
            "jobLocation.address.addressRegion",
        ],
    ),
    (
        &["zip", "zip code", "postcode", "postal code", "post code"],
        &[
            "address.postalCode",
            "location.address.postalCode",
            "jobLocation.address.postalCode",
        ],
    ),
    (
        &["country"],
        &[
            "address.addressCountry",
            "location.address.addressCountry",
            "jobLocation.address.addressCountry",
        ],
    ),
    (&["latitude", "lat"], &["geo.latitude", "location.geo.latitude"]),
    (&["longitude", "lng", "lon"], &["geo.longitude", "location.geo.longitude"]),
    (&["organizer", "organiser", "host"], &["organizer.name", "organizer"]),
    (&["performer", "artist", "speaker", "act"], &["performer.name", "performer", "byArtist.name"]),
    (&["phone", "telephone", "phone number", "tel"], &["telephone", "contactPoint.telephone"]),
    (&["email", "mail", "e mail"], &["email", "contactPoint.email"]),
    (&["opening hour", "hour", "opening time"], &["openingHours", "openingHoursSpecification"]),
    (
        &["company", "employer", "organization", "company name"],
        &["hiringOrganization.name", "worksFor.name", "legalName"],
    ),
    (&["job title", "position", "role"], &["title", "jobTitle"]),
    (&["employment type", "job type"], &["employmentType"]),
    (
        &["salary", "pay"],
        &[
            "baseSalary.value.value", "baseSalary.value.minValue", "baseSalary.value", "baseSalary",
        ],
    ),
    (&["valid through", "deadline", "closing date", "expire"], &["validThrough"]),
    (&["question"], &["name", "text"]),
    (&["answer"], &["acceptedAnswer.text", "suggestedAnswer.text", "text"]),
    (&["version"], &["softwareVersion", "version"]),
    (&["license", "licence"], &["license"]),
    (&["operating system", "os", "platform"], &["operatingSystem"]),
    (&["director"], &["director.name", "director"]),
    (&["actor", "cast"], &["actor.name", "actor"]),
    (&["dimension", "size"], &["size"]),
    (&["weight"], &["weight.value", "weight"]),
    (&["width"], &["width.value", "width"]),
    (&["height"], &["height.value", "height"]),
    (&["depth"], &["depth.value", "depth"]),
    (&["product", "item"], &["itemListElement", "hasVariant"]),
];

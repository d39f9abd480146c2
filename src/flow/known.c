/*
 * known.c - the images that have come so far.
 */
#include "base.h"
#include "flow/known.h"
#include "image.h"
#include "task.h"

int known_add(struct known_images *k, struct image *img)
{
	size_t i = k->count;
	int err = grow(&k->image, &k->room, i, sizeof(*k->image));

	if (err) {
		image_destroy(img);
		return err;
	}
	for (; i && k->image[i - 1]->first_func > img->first_func; i--)
		k->image[i] = k->image[i - 1];
	k->image[i] = img;
	k->count++;
	return 0;
}

void known_free(struct known_images *k)
{
	for (size_t i = 0; i < k->count; i++)
		image_destroy(k->image[i]);
	free(k->image);
}

const struct image *known_by_func(const struct known_images *k, uint32_t id)
{
	size_t low = 0, high = k->count;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct image *img = k->image[mid];

		if (id < img->first_func)
			high = mid;
		else if (id - img->first_func >= img->func_count)
			low = mid + 1;
		else
			return img;
	}
	return NULL;
}

/*
 * Not every filesystem tells user space the generation (0 then), nor the device number its inodes have in the kernel.
 * A file that was rewritten in place has an image for each content: a map is of the last that had come by then.
 */
bool known_is_of(const struct image *img, const struct map *m)
{
	return img->ino == m->ino && img->since <= m->time && (img->gen == m->gen || !img->gen) &&
	       (img->dev == m->dev || !strcmp(img->path, m->path));
}

const struct image *known_of_map(const struct known_images *k, const struct map *m)
{
	for (size_t i = k->count; i--; )
		if (known_is_of(k->image[i], m))
			return k->image[i];
	return NULL;
}
